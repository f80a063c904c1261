// CUDA's vector types, with their sizes and alignments.
#pragma once

#define GPULUA_VECTORS(T, name, align2, align4)                                                                 \
  struct name##1 {                                                                                              \
    T x;                                                                                                        \
  };                                                                                                            \
  struct __align__(align2) name##2 {                                                                            \
    T x, y;                                                                                                     \
  };                                                                                                            \
  struct name##3 {                                                                                              \
    T x, y, z;                                                                                                  \
  };                                                                                                            \
  struct __align__(align4) name##4 {                                                                            \
    T x, y, z, w;                                                                                               \
  };                                                                                                            \
  constexpr name##1 make_##name##1(T x) { return {x}; }                                                         \
  constexpr name##2 make_##name##2(T x, T y) { return {x, y}; }                                                 \
  constexpr name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                                         \
  constexpr name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

GPULUA_VECTORS(signed char, char, 2, 4)
GPULUA_VECTORS(unsigned char, uchar, 2, 4)
GPULUA_VECTORS(short, short, 4, 8)
GPULUA_VECTORS(unsigned short, ushort, 4, 8)
GPULUA_VECTORS(int, int, 8, 16)
GPULUA_VECTORS(unsigned int, uint, 8, 16)
GPULUA_VECTORS(long, long, 16, 16)
GPULUA_VECTORS(unsigned long, ulong, 16, 16)
GPULUA_VECTORS(long long, longlong, 16, 16)
GPULUA_VECTORS(unsigned long long, ulonglong, 16, 16)
GPULUA_VECTORS(float, float, 8, 16)
GPULUA_VECTORS(double, double, 16, 16)
#undef GPULUA_VECTORS

// The names that say the alignment of four 8-byte numbers; the plain ones have 16.
#define GPULUA_ALIGNED(T, name, bytes)                                                              \
  struct __align__(bytes) name##4_##bytes##a {                                                      \
    T x, y, z, w;                                                                                   \
  };                                                                                                \
  constexpr name##4_##bytes##a make_##name##4_##bytes##a(T x, T y, T z, T w) { return {x, y, z, w}; }
GPULUA_ALIGNED(long, long, 16)
GPULUA_ALIGNED(long, long, 32)
GPULUA_ALIGNED(unsigned long, ulong, 16)
GPULUA_ALIGNED(unsigned long, ulong, 32)
GPULUA_ALIGNED(long long, longlong, 16)
GPULUA_ALIGNED(long long, longlong, 32)
GPULUA_ALIGNED(unsigned long long, ulonglong, 16)
GPULUA_ALIGNED(unsigned long long, ulonglong, 32)
GPULUA_ALIGNED(double, double, 16)
GPULUA_ALIGNED(double, double, 32)
#undef GPULUA_ALIGNED

struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
