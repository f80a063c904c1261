// clock is there without this header. The rest is for host functions.
#ifndef GPULUA_TIME_H
#define GPULUA_TIME_H
#include "gpulua/host_mark.h"
#include "gpulua/names.h"
typedef long long time_t;  // as in NVIDIA's <cuda/std/ctime>, which may be included, too
GPULUA_HOST time_t time(time_t* result);
GPULUA_HOST double difftime(time_t end, time_t start);
namespace std {
using ::clock_t; using ::difftime; using ::time; using ::time_t;
}
#endif
