#ifndef GPULUA_STDLIB_H
#define GPULUA_STDLIB_H
// malloc, free and abs are there without this header.
namespace std {
using ::free;
using ::malloc;
}  // namespace std
#endif
