// What nvcc's own headers bring to each source without an #include: included ahead of every source.
#ifndef GPULUA_NAMES
#define GPULUA_NAMES
#include "gpulua/float.h"
#include "gpulua/limits.h"
#include "gpulua/math.h"
#include "gpulua/stddef.h"
#include "gpulua/stdint.h"
#include "gpulua/stdlib.h"
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned long ulong;
#endif
