// The mathematical functions that CUDA has beyond C's and that kernels use often; the others are in gpulua_rare.h.
#pragma once

#define GPULUA_FLOAT_OVERLOAD(name)                                \
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
inline float fdivide(float x, float y) { return x / y; }

// ---- multiples of pi ---------------------------------------------------------------------------------------------------

/// sin(pi x), exact at multiples of 1/2: the argument is reduced before it is multiplied by pi.
inline double sinpi(double x) {
  double rest = x - 2.0 * rint(0.5 * x);  // [-1, 1]
  if (rest > 0.5) rest = 1.0 - rest;
  if (rest < -0.5) rest = -1.0 - rest;
  return copysign(sin(3.14159265358979323846 * rest), rest == 0.0 ? x : rest);
}
inline double cospi(double x) {
  double rest = fabs(x - 2.0 * rint(0.5 * x));  // [0, 1]
  return rest == 0.5 ? 0.0 : rest < 0.25 ? cos(3.14159265358979323846 * rest) : sin(3.14159265358979323846 * (0.5 - rest));
}
GPULUA_FLOAT_OVERLOAD(sinpi)
GPULUA_FLOAT_OVERLOAD(cospi)
inline void sincospi(double x, double* s, double* c) { *s = sinpi(x), *c = cospi(x); }
inline void sincospif(float x, float* s, float* c) { *s = sinpif(x), *c = cospif(x); }
inline void sincospi(float x, float* s, float* c) { sincospif(x, s, c); }

// ---- the error function's family -------------------------------------------------------------------------------------------

/// 0.5 erfc(-x / sqrt 2). The tail magnifies the argument's rounding error, so that is put back to first order.
inline double normcdf(double x) {
  double t = -0.70710678118654752440 * x;
  double lost = fma(-0.70710678118654752440, x, -t) + 4.8336466567264567e-17 * x;
  double value = erfc(t);
  return fabs(x) < 40.0 ? 0.5 * (value - lost * 1.12837916709551257390 * exp(-t * t)) : 0.5 * value;
}

/// exp(x^2) erfc(x), with x^2 in two parts; from 25 on the asymptotic series, whose eighth term is below half an ulp.
inline double erfcx(double x) {
  if (x < 25.0) {
    double square = x * x;
    double power = exp(square), value = erfc(x);
    return power < 1.0e308 ? power * value + power * value * fma(x, x, -square) : power * value;
  }
  double r = 0.5 / x / x, sum = 1.0;
  for (int k = 15; k > 0; k -= 2) sum = 1.0 - k * r * sum;
  return 0.56418958354775628695 / x * sum;
}

/// The inverse of erf for |x| up to 0.5.
inline double gpulua_erfinv_center(double x) {
  double y = 0.88622692545275801365 * x;
  for (int step = 0; step < 3; ++step) {
    double newton = (erf(y) - x) / (1.12837916709551257390 * exp(-y * y));
    y -= newton / (1.0 + y * newton);
  }
  return y;
}
/// The inverse of erfc from 0 to 0.5: a closed approximation to 0.2 %, then Halley's method on log(erfc(y)), whose last digits
/// do not fade far out in the tail.
inline double gpulua_erfcinv_tail(double x) {
  if (x == 0.0) return __builtin_inf();
  double wanted = log(x), logarithm = wanted + log(2.0 - x);
  double half = 4.33074675 + 0.5 * logarithm;  // 2 / (pi 0.147)
  double y = sqrt(sqrt(half * half - logarithm / 0.147) - half);
  for (int step = 0; step < 3; ++step) {
    double scaled = erfcx(y);
    double slope = 1.12837916709551257390 / scaled;  // of -log(erfc(y))
    double newton = (fma(y, y, wanted) - log(scaled)) / slope;
    y -= newton / (1.0 + newton * (y - 0.5 * slope));
  }
  return y;
}
inline double erfinv(double x) {
  double size = fabs(x);
  if (!(size <= 1.0)) return __builtin_nan("");
  return size > 0.5 ? copysign(gpulua_erfcinv_tail(1.0 - size), x) : gpulua_erfinv_center(x);
}
inline double erfcinv(double x) {
  if (!(x >= 0.0 && x <= 2.0)) return __builtin_nan("");
  if (x >= 0.5 && x <= 1.5) return gpulua_erfinv_center(1.0 - x);
  return x < 1.0 ? gpulua_erfcinv_tail(x) : -gpulua_erfcinv_tail(2.0 - x);
}
inline double normcdfinv(double x) { return -1.41421356237309504880 * erfcinv(2.0 * x); }
GPULUA_FLOAT_OVERLOAD(normcdf)
GPULUA_FLOAT_OVERLOAD(erfcx)
GPULUA_FLOAT_OVERLOAD(erfinv)
GPULUA_FLOAT_OVERLOAD(erfcinv)
GPULUA_FLOAT_OVERLOAD(normcdfinv)

#undef GPULUA_FLOAT_OVERLOAD
