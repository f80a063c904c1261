// What device code has of the C library.
#pragma once

extern "C" {
int printf(const char* format, ...);
void* malloc(size_t bytes);
void free(void* memory);
void* memcpy(void* to, const void* from, size_t bytes);
void* memmove(void* to, const void* from, size_t bytes);
void* memset(void* memory, int value, size_t bytes);
int memcmp(const void* a, const void* b, size_t bytes);
size_t strlen(const char* text);
}

extern "C" int gpulua_libc_clock_gettime(int clock, long* seconds_and_nanoseconds) __asm__("clock_gettime");
inline unsigned long long gpulua_nanoseconds() {
  long time[2] = {};
  gpulua_libc_clock_gettime(0, time);
  return (unsigned long long)(time[0] * 1000000000 + time[1]);
}

typedef long clock_t;
inline long long clock64() { return (long long)__builtin_readcyclecounter(); }
inline clock_t clock() { return (clock_t)__builtin_readcyclecounter(); }
