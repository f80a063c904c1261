// For host functions, which are left out: what sources ask of the system.
#ifndef GPULUA_UNISTD_H
#define GPULUA_UNISTD_H
#define _POSIX_VERSION 200809L
#endif
