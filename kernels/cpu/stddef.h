#ifndef GPULUA_STDDEF_H
#define GPULUA_STDDEF_H
typedef decltype(sizeof 0) size_t;
typedef decltype((char*)0 - (char*)0) ptrdiff_t;
#define NULL __null
#define offsetof(type, member) __builtin_offsetof(type, member)
namespace std {
using ::ptrdiff_t;
using ::size_t;
using nullptr_t = decltype(nullptr);
}  // namespace std
#endif
