#ifndef GPULUA_STRING_H
#define GPULUA_STRING_H
// The functions are there without this header.
namespace std {
using ::memcmp;
using ::memcpy;
using ::memmove;
using ::memset;
using ::strlen;
}  // namespace std
#endif
