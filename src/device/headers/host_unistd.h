// <unistd.h> for host functions, which are left out. Sources ask by the macro whether there is a system of that standard.
#ifndef GPULUA_HOST_UNISTD_H
#define GPULUA_HOST_UNISTD_H
#include "gpulua/host_types.h"
#define _POSIX_VERSION 200809L
#endif
