// printf is there without this header.
#ifndef GPULUA_STDIO_H
#define GPULUA_STDIO_H
#include "gpulua/stddef.h"
namespace std {
using ::printf;
}
#endif
