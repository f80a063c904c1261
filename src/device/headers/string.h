// memcpy and memset are there without this header; on the CPU device, memcmp, memmove and strlen as well.
#ifndef GPULUA_STRING_H
#define GPULUA_STRING_H
#include "gpulua/stddef.h"
namespace std {
using ::memcpy;
using ::memset;
#ifdef GPULUA_CPU
using ::memcmp;
using ::memmove;
using ::strlen;
#endif
}  // namespace std
#endif
