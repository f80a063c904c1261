// The functions are there without this header, except that NVRTC has no overloads for integers.
#ifndef GPULUA_MATH_H
#define GPULUA_MATH_H
#ifdef GPULUA_CPU
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VAL __builtin_inf()
#else
#define INFINITY __builtin_bit_cast(float, 0x7f800000)
#define NAN __builtin_bit_cast(float, 0x7fc00000)
#define HUGE_VAL __builtin_bit_cast(double, 0x7ff0000000000000)
#endif
#define HUGE_VALF INFINITY
// No macros: sources for NVRTC have enumerations of these names.
#ifndef FP_NAN
enum { FP_NAN, FP_INFINITE, FP_ZERO, FP_SUBNORMAL, FP_NORMAL };
#endif
template <class _Tp>
__host__ __device__ inline int gpulua_class(_Tp x, _Tp least_normal) {
  const _Tp size = x < 0 ? -x : x;
  if (x != x) return FP_NAN;
  if (size > 0 && size == size / 2) return FP_INFINITE;
  return size >= least_normal ? FP_NORMAL : size > 0 ? FP_SUBNORMAL : FP_ZERO;
}
__host__ __device__ inline int gpulua_class(float x) { return gpulua_class(x, 1.17549435e-38f); }
__host__ __device__ inline int gpulua_class(double x) { return gpulua_class(x, 2.2250738585072014e-308); }
// Templates: a source may have functions of these names, for its own types or for numbers.
template <class _Tp>
__host__ __device__ inline int fpclassify(_Tp x) {
  return gpulua_class(x + 0.0f);
}
template <class _Tp>
__host__ __device__ inline bool isnormal(_Tp x) {
  return fpclassify(x) == FP_NORMAL;
}
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440

#ifndef GPULUA_CPU
/// 0 for what is no number, 1 for an integer.
template <class _Tp>
struct gpulua_kind {
  enum { value = 0 };
};
#define GPULUA_KIND(_Tp, kind)                \
  template <>                                 \
  struct gpulua_kind<_Tp> {                   \
    enum { value = kind };                    \
  };
GPULUA_KIND(bool, 1) GPULUA_KIND(char, 1) GPULUA_KIND(signed char, 1) GPULUA_KIND(unsigned char, 1)
GPULUA_KIND(short, 1) GPULUA_KIND(unsigned short, 1) GPULUA_KIND(int, 1) GPULUA_KIND(unsigned int, 1)
GPULUA_KIND(long, 1) GPULUA_KIND(unsigned long, 1) GPULUA_KIND(long long, 1) GPULUA_KIND(unsigned long long, 1)
GPULUA_KIND(float, 2) GPULUA_KIND(double, 3)
#undef GPULUA_KIND
template <bool condition>
struct gpulua_double_if {};
template <>
struct gpulua_double_if<true> {
  using type = double;
};
template <class _Tp, class _Up>
struct gpulua_mixed : gpulua_double_if<gpulua_kind<_Tp>::value != 0 && gpulua_kind<_Up>::value != 0 &&
                                       (gpulua_kind<_Tp>::value != gpulua_kind<_Up>::value || gpulua_kind<_Tp>::value == 1)> {};
#define GPULUA_UNARY(name)                                                                                  \
  template <class _Tp>                                                                                      \
  __host__ __device__ inline typename gpulua_double_if<gpulua_kind<_Tp>::value == 1>::type name(_Tp x) {    \
    return name((double)x);                                                                                 \
  }
#define GPULUA_BINARY(name)                                                                       \
  template <class _Tp, class _Up>                                                                 \
  __host__ __device__ inline typename gpulua_mixed<_Tp, _Up>::type name(_Tp x, _Up y) {           \
    return name((double)x, (double)y);                                                            \
  }
GPULUA_UNARY(sqrt) GPULUA_UNARY(cbrt) GPULUA_UNARY(exp) GPULUA_UNARY(exp2) GPULUA_UNARY(log) GPULUA_UNARY(log2)
GPULUA_UNARY(log10) GPULUA_UNARY(log1p) GPULUA_UNARY(sin) GPULUA_UNARY(cos) GPULUA_UNARY(tan) GPULUA_UNARY(asin)
GPULUA_UNARY(acos) GPULUA_UNARY(atan) GPULUA_UNARY(sinh) GPULUA_UNARY(cosh) GPULUA_UNARY(tanh) GPULUA_UNARY(erf)
GPULUA_UNARY(tgamma) GPULUA_UNARY(lgamma) GPULUA_UNARY(floor) GPULUA_UNARY(ceil) GPULUA_UNARY(trunc) GPULUA_UNARY(round)
GPULUA_UNARY(rint) GPULUA_UNARY(fabs)
GPULUA_BINARY(pow) GPULUA_BINARY(atan2) GPULUA_BINARY(fmod) GPULUA_BINARY(fmin) GPULUA_BINARY(fmax) GPULUA_BINARY(hypot)
#undef GPULUA_UNARY
#undef GPULUA_BINARY
#endif
#endif
