// malloc, free and abs are there without this header.
#ifndef GPULUA_STDLIB_H
#define GPULUA_STDLIB_H
#include "gpulua/stddef.h"
#define RAND_MAX 2147483647
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
namespace std {
using ::abs;
using ::free;
using ::labs;
using ::llabs;
using ::malloc;
}  // namespace std
#endif
