// What <stdlib.h> has for host functions, beside what kernels have of it.
#ifndef GPULUA_HOST_STDLIB_H
#define GPULUA_HOST_STDLIB_H
#include "gpulua/host_mark.h"
#include "gpulua/stdlib.h"
GPULUA_HOST void exit(int status);
GPULUA_HOST void abort();
GPULUA_HOST int atoi(const char* text);
GPULUA_HOST long atol(const char* text);
GPULUA_HOST double atof(const char* text);
GPULUA_HOST long strtol(const char* text, char** end, int base);
GPULUA_HOST double strtod(const char* text, char** end);
GPULUA_HOST int rand();
GPULUA_HOST void srand(unsigned seed);
GPULUA_HOST char* getenv(const char* name);
GPULUA_HOST void* calloc(size_t count, size_t bytes);
GPULUA_HOST void* realloc(void* memory, size_t bytes);
GPULUA_HOST void qsort(void* first, size_t count, size_t bytes, int (*compare)(const void*, const void*));
namespace std {
using ::abort; using ::atof; using ::atoi; using ::calloc; using ::exit; using ::getenv; using ::rand; using ::realloc;
using ::srand;
}  // namespace std
#endif
