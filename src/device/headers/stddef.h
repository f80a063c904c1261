#ifndef GPULUA_STDDEF_H
#define GPULUA_STDDEF_H
typedef decltype(sizeof 0) size_t;
typedef decltype((char*)0 - (char*)0) ptrdiff_t;
#ifdef GPULUA_CPU
#define NULL __null
#define offsetof(type, member) __builtin_offsetof(type, member)
#elif !defined(offsetof)
#define offsetof(type, member) ((size_t)&((type*)0)->member)
#endif
#if __cplusplus >= 201402L  // before, a constexpr function is one expression, and a member is const
#define GPULUA_CONSTEXPR constexpr
#else
#define GPULUA_CONSTEXPR inline
#endif
namespace std {
using ::ptrdiff_t;
using ::size_t;
using nullptr_t = decltype(nullptr);
}  // namespace std
#endif
