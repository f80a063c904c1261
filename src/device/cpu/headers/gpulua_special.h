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

// ---- the inverses of the error function's family ------------------------------------------------------------------------

/// first + second t + third t^2 + ...
template <class T>
inline T gpulua_series(T, T last) {
  return last;
}
template <class T, class... More>
inline T gpulua_series(T t, T first, More... more) {
  return fma(t, gpulua_series(t, more...), first);
}

// With R the root of -log(1 - |x|), quotients of polynomials give erfinv(x) / x for |x| below 0.75, and erfinv(|x|)
// further out; for double less 0.875 there, and less R here, so that their rounding errors fade. They interpolate at
// Chebyshev's points of each range, and are 7e-17 off at most, those for float 9e-9.

/// `scale` times erfinv(x), where `rest` is 1 - |x|, which may be known better than x.
inline double gpulua_inverse_erf(double x, double rest, double scale, double scale_squared) {
  double t = fma(-x, x, 0.5625);
  double above = gpulua_series(t, 0.20955979679682468, 0.81083607352275991, 0.39627995216705528, -1.7667441372190337,
                               -2.5034146469407613, -1.0577128599649965, -0.12293389521893726, -0.00051187143968150421);
  double below = gpulua_series(t, 1.0000000000000000, 6.5539736317171827, 16.281267919342295, 19.122091730537514,
                               10.786808178005323, 2.6160502808170210, 0.19336588186820737);
  double logarithm = log(rest), r = sqrt(-logarithm);
  t = r - 1.125;
  double outer = gpulua_series(t, 0.36436761303251901, 0.91014557382426490, 0.89748639757130703, 0.43348305609750222,
                               0.096685566659341361, 0.0079153695876767198, 0.00014704152461707756);
  double outer_below =
      gpulua_series(t, 1.0000000000000000, 2.5063559716598084, 2.7113024666597885, 1.5524511900973999,
                    0.47850649502351885, 0.070772544445667886, 0.0039494593169785296, 4.7250597984002594e-5);
  if (r > 2.75) {  // rest < 5e-4
    if (r > 7.0) {
      t = r - 7.0;
      outer = gpulua_series(t, 0.18109555845446224, 0.079929938745526075, 0.013548193097228799, 0.0011142180100131341,
                            4.6470998775769999e-5, 9.4074499050186638e-7, 8.0475528134103144e-9, 2.0592437793827770e-11,
                            2.2822807258041556e-15);
      outer_below = gpulua_series(t, 1.0000000000000000, 0.52893195035892569, 0.11250183302729179, 0.012308806803679860,
                                  0.00073749970622770129, 2.3899743849674388e-5, 3.8891902293001663e-7,
                                  2.6937466662040355e-9, 5.3404369907348003e-12);
      if (rest == 0.0) outer = 0.0, outer_below = 1.0;
    } else {
      t = r - 2.75;
      outer =
          gpulua_series(t, 0.29601674371247580, 0.41631696008456329, 0.23093168283167221, 0.063411592638361526,
                        0.0088511390041133553, 0.00058072110588801456, 1.4698717461450296e-5, 8.7412043135237037e-8);
      outer_below = gpulua_series(t, 1.0000000000000000, 1.5565897083675851, 0.99594123855687209, 0.33430106832283011,
                                  0.062252455790080091, 0.0062556018384783727, 0.00030566960368743644,
                                  5.7934856595877822e-6, 2.4016467539523442e-8);
    }
  }
  bool center = rest > 0.25;
  double quotient = scale * (center ? above * x : copysign(outer, -x)) / (center ? below : outer_below);
  return fma(center ? scale * 0.875 : 1.0, center ? x : copysign(sqrt(-scale_squared * logarithm), x), quotient);
}
/// The same to the precision of a float.
inline float gpulua_short_inverse_erf(double x, double rest, double scale) {
  double t = fma(-x, x, 0.5625);
  double above = gpulua_series(t, 1.0845597874862213, 2.7461726948363109, 1.5467551974850786, 0.11024641114615221);
  double below = gpulua_series(t, 1.0000000000000000, 3.0508085882631415, 2.3894489214911254, 0.38815467497794533);
  double r = sqrt(-log(rest));
  t = r - 1.125;
  double outer = gpulua_series(t, 0.76063236487915194, 2.0475301911556586, 1.9817751649874822, 0.79446770827062348,
                               0.10047442401385127);
  double outer_below = gpulua_series(t, 1.0000000000000000, 1.3731209049829900, 0.68592455744938586,
                                     0.10029797159130121, 5.0178151405191572e-6);
  if (r > 4.0) {  // rest < 1.2e-7
    t = r - 4.0;
    outer = gpulua_series(t, 3.7513593479964865, 2.9538147823462154, 0.81808505982331396, 0.091366543494091428,
                          0.0032777656135260748);
    outer_below =
        gpulua_series(t, 1.0000000000000000, 0.51233744089492047, 0.078293885903390023, 0.0032774548530169598);
    if (rest == 0.0) outer = __builtin_inf(), outer_below = 1.0;
  }
  bool center = rest > 0.25;
  return (float)(scale * (center ? above * x : copysign(outer, x)) / (center ? below : outer_below));
}
constexpr double gpulua_root_of_two = 1.41421356237309504880;
inline double erfinv(double x) {
  return gpulua_inverse_erf(x, 1.0 - fabs(x), 1.0, 1.0);
}
inline double erfcinv(double x) {
  return gpulua_inverse_erf(1.0 - x, x < 1.0 ? x : 2.0 - x, 1.0, 1.0);
}
inline double normcdfinv(double x) {
  return gpulua_inverse_erf(2.0 * x - 1.0, x < 0.5 ? 2.0 * x : 2.0 - 2.0 * x, gpulua_root_of_two, 2.0);
}
inline float erfinvf(float x) {
  return gpulua_short_inverse_erf(x, 1.0 - fabs((double)x), 1.0);
}
inline float erfinv(float x) {
  return erfinvf(x);
}
inline float erfcinvf(float x) {
  return gpulua_short_inverse_erf(1.0 - x, x < 1.0f ? x : 2.0 - x, 1.0);
}
inline float erfcinv(float x) {
  return erfcinvf(x);
}
inline float normcdfinvf(float x) {
  return gpulua_short_inverse_erf(2.0 * x - 1.0, x < 0.5f ? 2.0 * x : 2.0 - 2.0 * x, gpulua_root_of_two);
}
inline float normcdfinv(float x) {
  return normcdfinvf(x);
}
GPULUA_FLOAT_OVERLOAD(normcdf)
GPULUA_FLOAT_OVERLOAD(erfcx)

#undef GPULUA_FLOAT_OVERLOAD
