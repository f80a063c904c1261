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
double nan(const char*);
float nanf(const char*);
double j0(double);
float j0f(float);
double j1(double);
float j1f(float);
double y0(double);
float y0f(float);
double y1(double);
float y1f(float);
void sincos(double, double*, double*);
void sincosf(float, float*, float*);
double exp10(double);
float exp10f(float);
int abs(int);
long labs(long);
long long llabs(long long);
}

// Out of range they saturate, as a cast does on this device. With C's linkage a compiler would put its own in their place.
inline long lrint(double x) { return (long)rint(x); }
inline long lrintf(float x) { return (long)rintf(x); }
inline long long llrint(double x) { return (long long)rint(x); }
inline long long llrintf(float x) { return (long long)rintf(x); }
inline long lround(double x) { return (long)round(x); }
inline long lroundf(float x) { return (long)roundf(x); }
inline long long llround(double x) { return (long long)round(x); }
inline long long llroundf(float x) { return (long long)roundf(x); }

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
inline int __isnanf(float x) { return isnan(x); }
inline int __isnan(double x) { return isnan(x); }
inline int __isinff(float x) { return isinf(x); }
inline int __isinf(double x) { return isinf(x); }
inline int __finitef(float x) { return isfinite(x); }
inline int __finite(double x) { return isfinite(x); }
inline int __signbitf(float x) { return signbit(x); }
inline int __signbit(double x) { return signbit(x); }

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
inline unsigned int umin(unsigned int a, unsigned int b) { return min(a, b); }
inline unsigned int umax(unsigned int a, unsigned int b) { return max(a, b); }
inline long long llmin(long long a, long long b) { return min(a, b); }
inline long long llmax(long long a, long long b) { return max(a, b); }
inline unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
inline unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }

#undef UNARY
#undef BINARY
