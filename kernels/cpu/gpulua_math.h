// Mathematical functions: C's names in double, with the f suffix in float, and overloads of the plain names for float and for
// integers, as CUDA C++ has them.
#pragma once

template <bool condition, class T>
struct gpulua_enable {};
template <class T>
struct gpulua_enable<true, T> {
  using type = T;
};
/// double for an integer type T, and no type for another.
template <class T>
using gpulua_from_integer = typename gpulua_enable<__is_integral(T), double>::type;
/// double for two arithmetic types, no type where an exact overload takes them.
template <class T, class U>
using gpulua_from_mixed =
    typename gpulua_enable<__is_arithmetic(T) && __is_arithmetic(U) && !(__is_same(T, U) && __is_floating_point(T)),
                           double>::type;

#define UNARY(name)                            \
  extern "C" double name(double);              \
  extern "C" float name##f(float);             \
  inline float name(float x) { return name##f(x); } \
  template <class T>                           \
  inline gpulua_from_integer<T> name(T x) {    \
    return name((double)x);                    \
  }
#define BINARY(name)                                              \
  extern "C" double name(double, double);                         \
  extern "C" float name##f(float, float);                         \
  inline float name(float x, float y) { return name##f(x, y); }   \
  template <class T, class U>                                     \
  inline gpulua_from_mixed<T, U> name(T x, U y) {                 \
    return name((double)x, (double)y);                            \
  }

UNARY(sqrt) UNARY(cbrt) UNARY(exp) UNARY(exp2) UNARY(expm1) UNARY(log) UNARY(log2) UNARY(log10) UNARY(log1p)
UNARY(sin) UNARY(cos) UNARY(tan) UNARY(asin) UNARY(acos) UNARY(atan)
UNARY(sinh) UNARY(cosh) UNARY(tanh) UNARY(asinh) UNARY(acosh) UNARY(atanh)
UNARY(erf) UNARY(erfc) UNARY(tgamma) UNARY(lgamma)
UNARY(floor) UNARY(ceil) UNARY(trunc) UNARY(round) UNARY(rint) UNARY(nearbyint) UNARY(logb) UNARY(fabs)
BINARY(pow) BINARY(atan2) BINARY(hypot) BINARY(fmod) BINARY(remainder) BINARY(copysign) BINARY(nextafter) BINARY(fdim)
BINARY(fmin) BINARY(fmax)

extern "C" {
double fma(double, double, double);
float fmaf(float, float, float);
double ldexp(double, int);
float ldexpf(float, int);
double scalbn(double, int);
float scalbnf(float, int);
double scalbln(double, long);
float scalblnf(float, long);
double frexp(double, int*);
float frexpf(float, int*);
double modf(double, double*);
float modff(float, float*);
double remquo(double, double, int*);
float remquof(float, float, int*);
int ilogb(double);
int ilogbf(float);
long lrint(double);
long lrintf(float);
long long llrint(double);
long long llrintf(float);
long lround(double);
long lroundf(float);
long long llround(double);
long long llroundf(float);
double nan(const char*);
float nanf(const char*);
double j0(double);
float j0f(float);
double j1(double);
float j1f(float);
double jn(int, double);
float jnf(int, float);
double y0(double);
float y0f(float);
double y1(double);
float y1f(float);
double yn(int, double);
float ynf(int, float);
void sincos(double, double*, double*);
void sincosf(float, float*, float*);
double exp10(double);
float exp10f(float);
int abs(int);
long labs(long);
long long llabs(long long);
}

inline float fma(float x, float y, float z) { return fmaf(x, y, z); }
inline float ldexp(float x, int e) { return ldexpf(x, e); }
inline float scalbn(float x, int e) { return scalbnf(x, e); }
inline float scalbln(float x, long e) { return scalblnf(x, e); }
inline float frexp(float x, int* e) { return frexpf(x, e); }
inline float modf(float x, float* whole) { return modff(x, whole); }
inline float remquo(float x, float y, int* q) { return remquof(x, y, q); }
inline int ilogb(float x) { return ilogbf(x); }
inline long lrint(float x) { return lrintf(x); }
inline long long llrint(float x) { return llrintf(x); }
inline long lround(float x) { return lroundf(x); }
inline long long llround(float x) { return llroundf(x); }
inline float exp10(float x) { return exp10f(x); }
inline void sincos(float x, float* s, float* c) { sincosf(x, s, c); }

inline long abs(long x) { return __builtin_labs(x); }
inline long long abs(long long x) { return __builtin_llabs(x); }
inline float abs(float x) { return fabsf(x); }
inline double abs(double x) { return fabs(x); }

inline bool isnan(float x) { return __builtin_isnan(x); }
inline bool isnan(double x) { return __builtin_isnan(x); }
inline bool isinf(float x) { return __builtin_isinf(x); }
inline bool isinf(double x) { return __builtin_isinf(x); }
inline bool isfinite(float x) { return __builtin_isfinite(x); }
inline bool isfinite(double x) { return __builtin_isfinite(x); }
inline bool signbit(float x) { return __builtin_signbit(x); }
inline bool signbit(double x) { return __builtin_signbit(x); }

// min and max: integers with CUDA's mixed overloads; for floating point the operand that is no NaN.
#define GPULUA_MIN_MAX(T)                            \
  inline T min(T a, T b) { return a < b ? a : b; }   \
  inline T max(T a, T b) { return a > b ? a : b; }
GPULUA_MIN_MAX(int)
GPULUA_MIN_MAX(unsigned int)
GPULUA_MIN_MAX(long)
GPULUA_MIN_MAX(unsigned long)
GPULUA_MIN_MAX(long long)
GPULUA_MIN_MAX(unsigned long long)
#undef GPULUA_MIN_MAX
#define GPULUA_MIN_MAX(A, B, T)                        \
  inline T min(A a, B b) { return min((T)a, (T)b); }   \
  inline T max(A a, B b) { return max((T)a, (T)b); }
GPULUA_MIN_MAX(int, unsigned int, unsigned int)
GPULUA_MIN_MAX(unsigned int, int, unsigned int)
GPULUA_MIN_MAX(long, unsigned long, unsigned long)
GPULUA_MIN_MAX(unsigned long, long, unsigned long)
GPULUA_MIN_MAX(long long, unsigned long long, unsigned long long)
GPULUA_MIN_MAX(unsigned long long, long long, unsigned long long)
#undef GPULUA_MIN_MAX
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
inline double min(float a, double b) { return fmin(a, b); }
inline double max(float a, double b) { return fmax(a, b); }
inline double min(double a, float b) { return fmin(a, b); }
inline double max(double a, float b) { return fmax(a, b); }

// ---- what CUDA has beyond C ------------------------------------------------------------------------------------------

#define GPULUA_FLOAT_OVERLOAD(name)                     \
  inline float name##f(float x) { return (float)name((double)x); } \
  inline float name(float x) { return name##f(x); }

inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline double rcbrt(double x) { return 1.0 / cbrt(x); }
inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
inline float rcbrt(float x) { return rcbrtf(x); }
inline double fdivide(double x, double y) { return x / y; }
inline float fdividef(float x, float y) { return x / y; }

/// sin(pi x), exact at multiples of 1/2: the argument is reduced before it is multiplied by pi.
inline double sinpi(double x) {
  double rest = x - 2.0 * rint(0.5 * x);  // [-1, 1]
  if (rest > 0.5) rest = 1.0 - rest;
  if (rest < -0.5) rest = -1.0 - rest;
  return sin(3.14159265358979323846 * rest);
}
inline double cospi(double x) {
  double rest = fabs(x - 2.0 * rint(0.5 * x));  // [0, 1]
  return rest == 0.5 ? 0.0 : rest < 0.25 ? cos(3.14159265358979323846 * rest) : sin(3.14159265358979323846 * (0.5 - rest));
}
GPULUA_FLOAT_OVERLOAD(sinpi)
GPULUA_FLOAT_OVERLOAD(cospi)
inline void sincospi(double x, double* s, double* c) { *s = sinpi(x), *c = cospi(x); }
inline void sincospif(float x, float* s, float* c) { *s = sinpif(x), *c = cospif(x); }

inline double normcdf(double x) { return 0.5 * erfc(-0.70710678118654752440 * x); }
GPULUA_FLOAT_OVERLOAD(normcdf)

/// exp(x^2) erfc(x). From 26 on erfc underflows and the first terms of its asymptotic series are exact to rounding.
inline double erfcx(double x) {
  if (x < 26.0) return exp(x * x) * erfc(x);
  double square = 1.0 / (x * x);
  return 0.56418958354775628695 / x * (1.0 - 0.5 * square * (1.0 - 1.5 * square * (1.0 - 2.5 * square)));
}
GPULUA_FLOAT_OVERLOAD(erfcx)

/// A closed approximation to 0.2 %, then Halley's method, which triples the digits.
inline double erfcinv(double x) {
  if (!(x > 0.0 && x < 2.0)) return x == 0.0 ? __builtin_inf() : x == 2.0 ? -__builtin_inf() : __builtin_nan("");
  double tail = x < 1.0 ? x : 2.0 - x;
  double logarithm = log(tail * (2.0 - tail));
  double half = 4.33074675 + 0.5 * logarithm;  // 2 / (pi 0.147)
  double y = sqrt(sqrt(half * half - logarithm / 0.147) - half);
  for (int step = 0; step < 3; ++step) {
    double error = erfc(y) - tail;
    double slope = -1.12837916709551257390 * exp(-y * y);
    if (slope == 0.0) break;
    double newton = error / slope;
    y -= newton / (1.0 + y * newton);
  }
  return x < 1.0 ? y : -y;
}
inline double erfinv(double x) {
  double size = fabs(x);
  if (!(size < 1.0)) return size == 1.0 ? copysign(__builtin_inf(), x) : __builtin_nan("");
  if (size > 0.5) return copysign(erfcinv(1.0 - size), x);
  double y = 0.88622692545275801365 * x;
  for (int step = 0; step < 3; ++step) {
    double newton = (erf(y) - x) / (1.12837916709551257390 * exp(-y * y));
    y -= newton / (1.0 + y * newton);
  }
  return y;
}
inline double normcdfinv(double x) { return -1.41421356237309504880 * erfcinv(2.0 * x); }
GPULUA_FLOAT_OVERLOAD(erfcinv)
GPULUA_FLOAT_OVERLOAD(erfinv)
GPULUA_FLOAT_OVERLOAD(normcdfinv)

inline double norm3d(double a, double b, double c) { return hypot(hypot(a, b), c); }
inline float norm3df(float a, float b, float c) { return hypotf(hypotf(a, b), c); }
inline double norm4d(double a, double b, double c, double d) { return hypot(hypot(a, b), hypot(c, d)); }
inline float norm4df(float a, float b, float c, float d) { return hypotf(hypotf(a, b), hypotf(c, d)); }
inline double rhypot(double a, double b) { return 1.0 / hypot(a, b); }
inline float rhypotf(float a, float b) { return 1.0f / hypotf(a, b); }
inline double rnorm3d(double a, double b, double c) { return 1.0 / norm3d(a, b, c); }
inline float rnorm3df(float a, float b, float c) { return 1.0f / norm3df(a, b, c); }

#undef GPULUA_FLOAT_OVERLOAD
#undef UNARY
#undef BINARY
