// What nvcc's own headers bring to each source without an #include: included ahead of every source.
#ifndef GPULUA_NAMES
#define GPULUA_NAMES
#include "gpulua/float.h"
#include "gpulua/limits.h"
#include "gpulua/math.h"
#include "gpulua/stddef.h"
#include "gpulua/stdint.h"
#include "gpulua/stdlib.h"
// The system's names, which come from nvcc's host compiler.
#ifndef __linux__
#define __linux__ 1
#define __linux 1
#define __gnu_linux__ 1
#define __unix__ 1
#define __unix 1
#endif
#define CLOCKS_PER_SEC ((clock_t)1000000)
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned long ulong;
typedef unsigned char u_char;
typedef unsigned short u_short;
typedef unsigned int u_int;
typedef unsigned long u_long;
typedef unsigned char u_int8_t;
typedef unsigned short u_int16_t;
typedef unsigned int u_int32_t;
typedef unsigned long u_int64_t;
typedef long ssize_t;
#include "gpulua/dependent_launch.h"
#endif
