// Complex numbers: operators, and the functions that NumPy has for them. Values at infinities, NaN and zeros of both signs are
// those of C's Annex G; branch cuts as there.

// ---- arithmetic ------------------------------------------------------------------------------------------------------------

template <class R>
__device__ inline gpulua_complex<R> operator-(gpulua_complex<R> x) {
  return {-x.re, -x.im};
}
template <class R>
__device__ inline gpulua_complex<R> operator+(gpulua_complex<R> x, gpulua_complex<R> y) {
  return {x.re + y.re, x.im + y.im};
}
template <class R>
__device__ inline gpulua_complex<R> operator-(gpulua_complex<R> x, gpulua_complex<R> y) {
  return {x.re - y.re, x.im - y.im};
}
template <class R>
__device__ inline gpulua_complex<R> operator*(gpulua_complex<R> x, gpulua_complex<R> y) {
  return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}
template <class R>
__device__ inline gpulua_complex<R> operator*(gpulua_complex<R> x, R y) {
  return {x.re * y, x.im * y};
}
// Scaled by the divisor's larger part: R. L. Smith, "Algorithm 116: Complex division", 1962.
template <class R>
__device__ inline gpulua_complex<R> operator/(gpulua_complex<R> x, gpulua_complex<R> y) {
  if (fabs(y.re) >= fabs(y.im)) {
    if (y.re == 0 && y.im == 0) return {x.re / fabs(y.re), x.im / fabs(y.re)};
    const R ratio = y.im / y.re, scale = R(1) / (y.re + y.im * ratio);
    return {(x.re + x.im * ratio) * scale, (x.im - x.re * ratio) * scale};
  }
  const R ratio = y.re / y.im, scale = R(1) / (y.im + y.re * ratio);
  return {(x.re * ratio + x.im) * scale, (x.im * ratio - x.re) * scale};
}

template <class R>
__device__ inline gpulua_complex<R> gpulua_add(gpulua_complex<R> x, gpulua_complex<R> y) {
  return x + y;
}
template <class R>
__device__ inline gpulua_complex<R> gpulua_multiply(gpulua_complex<R> x, gpulua_complex<R> y) {
  return x * y;
}

// ---- parts -----------------------------------------------------------------------------------------------------------------

template <class R>
__device__ inline R gpulua_real(gpulua_complex<R> x) {
  return x.re;
}
template <class R>
__device__ inline R gpulua_imag(gpulua_complex<R> x) {
  return x.im;
}
template <class R>
__device__ inline gpulua_complex<R> gpulua_conj(gpulua_complex<R> x) {
  return {x.re, -x.im};
}
template <class R>
__device__ inline R gpulua_angle(gpulua_complex<R> x) {
  return atan2(x.im, x.re);
}
template <class R>
__device__ inline R fabs(gpulua_complex<R> x) {
  return hypot(x.re, x.im);
}
template <class R>
__device__ inline bool isinf(gpulua_complex<R> x) {
  return isinf(x.re) || isinf(x.im);
}
template <class R>
__device__ inline bool isfinite(gpulua_complex<R> x) {
  return isfinite(x.re) && isfinite(x.im);
}
template <class R>
__device__ inline gpulua_complex<R> rint(gpulua_complex<R> x) {
  return {rint(x.re), rint(x.im)};
}
template <class R>
__device__ inline gpulua_complex<R> gpulua_round_decimals(gpulua_complex<R> x, gpulua_complex<R> scale) {
  return {gpulua_round_decimals(x.re, scale.re), gpulua_round_decimals(x.im, scale.re)};
}
template <class R>
__device__ inline gpulua_complex<R> gpulua_round_tens(gpulua_complex<R> x, gpulua_complex<R> unit) {
  return {gpulua_round_tens(x.re, unit.re), gpulua_round_tens(x.im, unit.re)};
}
template <class R>
__device__ inline gpulua_complex<R> gpulua_nan_to_num(gpulua_complex<R> x, gpulua_complex<R> nan, gpulua_complex<R> highest,
                                                      gpulua_complex<R> lowest) {
  return {gpulua_nan_to_num(x.re, nan.re, highest.re, lowest.re), gpulua_nan_to_num(x.im, nan.re, highest.re, lowest.re)};
}

// i x and -i x
template <class R>
__device__ inline gpulua_complex<R> gpulua_turned(gpulua_complex<R> x) {
  return {-x.im, x.re};
}
template <class R>
__device__ inline gpulua_complex<R> gpulua_turned_back(gpulua_complex<R> x) {
  return {x.im, -x.re};
}

// ---- order: by the real parts, where those are equal by the imaginary ones -----------------------------------------------------

template <class R>
__device__ inline bool operator==(gpulua_complex<R> x, gpulua_complex<R> y) {
  return x.re == y.re && x.im == y.im;
}
template <class R>
__device__ inline bool operator!=(gpulua_complex<R> x, gpulua_complex<R> y) {
  return x.re != y.re || x.im != y.im;
}
template <class R>
__device__ inline bool operator<(gpulua_complex<R> x, gpulua_complex<R> y) {
  return (x.re < y.re && x.im == x.im && y.im == y.im) || (x.re == y.re && x.im < y.im);
}
template <class R>
__device__ inline bool operator<=(gpulua_complex<R> x, gpulua_complex<R> y) {
  return (x.re < y.re && x.im == x.im && y.im == y.im) || (x.re == y.re && x.im <= y.im);
}
template <class R>
__device__ inline bool operator>(gpulua_complex<R> x, gpulua_complex<R> y) {
  return y < x;
}
template <class R>
__device__ inline bool operator>=(gpulua_complex<R> x, gpulua_complex<R> y) {
  return y <= x;
}
template <class R>
__device__ inline gpulua_complex<R> gpulua_maximum(gpulua_complex<R> x, gpulua_complex<R> y) {
  return x != x || x >= y ? x : y;
}
template <class R>
__device__ inline gpulua_complex<R> gpulua_minimum(gpulua_complex<R> x, gpulua_complex<R> y) {
  return x != x || x <= y ? x : y;
}
template <class R>
__device__ inline gpulua_complex<R> fmax(gpulua_complex<R> x, gpulua_complex<R> y) {
  return y != y || x >= y ? x : y;
}
template <class R>
__device__ inline gpulua_complex<R> fmin(gpulua_complex<R> x, gpulua_complex<R> y) {
  return y != y || x <= y ? x : y;
}

template <class R>
__device__ inline gpulua_complex<R> gpulua_sign(gpulua_complex<R> x) {
  if (isinf(x.re) && !isinf(x.im)) return {copysign(R(1), x.re), 0};
  if (isinf(x.im) && !isinf(x.re)) return {0, copysign(R(1), x.im)};
  const R size = fabs(x);
  return size == 0 ? gpulua_complex<R>(0, 0) : gpulua_complex<R>(x.re / size, x.im / size);
}

// ---- exponentials and logarithms -------------------------------------------------------------------------------------------

template <class R>
struct gpulua_complex_limits {  // float
  static constexpr float power = 80;     // exp(x) is finite up to here, and exp(2 x) is not
  static constexpr float large = 1e9f;   // x + 1 is x, and x * x is finite
  static constexpr float flat = 10;      // tanh(x) is 1 from here on
};
template <>
struct gpulua_complex_limits<double> {
  static constexpr double power = 700, large = 1e18, flat = 20;
};

// share exp(x) (cos y, sin y), where exp(x) alone may overflow.
template <class R>
__device__ inline gpulua_complex<R> gpulua_polar(R x, R y, R share = 1) {
  R sine, cosine;
  sincos(y, &sine, &cosine);
  if (x < gpulua_complex_limits<R>::power) {
    const R size = share * exp(x);
    return {size * cosine, size * sine};
  }
  const R root = exp(R(0.5) * x), part = share * root;
  return {part * cosine * root, part * sine * root};
}

template <class R>
__device__ inline gpulua_complex<R> exp(gpulua_complex<R> x) {
  if (x.im == 0) return {exp(x.re), x.im};
  if (isfinite(x.im)) return isinf(x.re) && x.re < 0 ? gpulua_complex<R>(R(0) * cos(x.im), R(0) * sin(x.im)) : gpulua_polar(x.re, x.im);
  if (!isinf(x.re)) return {x.im - x.im, x.im - x.im};
  return x.re < 0 ? gpulua_complex<R>(0, 0) : gpulua_complex<R>(x.re, x.im - x.im);
}
template <class R>
__device__ inline gpulua_complex<R> exp2(gpulua_complex<R> x) {
  return exp(x * R(0.69314718055994530942));
}
template <class R>
__device__ inline gpulua_complex<R> expm1(gpulua_complex<R> x) {
  if (x.im == 0) return {expm1(x.re), x.im};
  if (x.re >= gpulua_complex_limits<R>::power || !isfinite(x.re) || !isfinite(x.im)) {
    const gpulua_complex<R> y = exp(x);
    return {y.re - 1, y.im};
  }
  const R half = sin(R(0.5) * x.im);
  return {expm1(x.re) * cos(x.im) - 2 * half * half, exp(x.re) * sin(x.im)};
}

template <class R>
__device__ inline gpulua_complex<R> log(gpulua_complex<R> x) {
  const R a = fmax(fabs(x.re), fabs(x.im)), b = fmin(fabs(x.re), fabs(x.im));
  const R angle = atan2(x.im, x.re);
  // Near the unit circle the logarithm of the size is small: it comes from what the size is off 1.
  if (a > R(0.5) && a < R(1.5) && angle == angle) return {R(0.5) * log1p((a - 1) * (a + 1) + b * b), angle};
  if (a < R(1) / gpulua_complex_limits<R>::large) {
    const R scale = gpulua_complex_limits<R>::large;
    return {log(hypot(x.re * scale, x.im * scale)) - log(scale), angle};
  }
  if (a > gpulua_complex_limits<R>::large && !isinf(a)) return {log(hypot(x.re / 2, x.im / 2)) + R(0.69314718055994530942), angle};
  return {log(hypot(x.re, x.im)), angle};
}
template <class R>
__device__ inline gpulua_complex<R> log2(gpulua_complex<R> x) {
  return log(x) * R(1.4426950408889634074);
}
template <class R>
__device__ inline gpulua_complex<R> log10(gpulua_complex<R> x) {
  return log(x) * R(0.43429448190325182765);
}
template <class R>
__device__ inline gpulua_complex<R> log1p(gpulua_complex<R> x) {
  // |1 + x|^2 = 1 + re (2 + re) + im^2
  const R angle = atan2(x.im, x.re + 1);
  if (fabs(x.re) < R(0.5) && fabs(x.im) < R(0.5)) return {R(0.5) * log1p(x.re * (2 + x.re) + x.im * x.im), angle};
  return {log(gpulua_complex<R>(x.re + 1, x.im)).re, angle};
}

template <class R>
__device__ inline gpulua_complex<R> sqrt(gpulua_complex<R> x) {
  if (x.re == 0 && x.im == 0) return {0, x.im};
  if (isinf(x.im)) return {fabs(x.im), x.im};
  if (x.re != x.re) return {x.re, x.re};
  if (isinf(x.re)) {
    const R rest = x.im - x.im;  // 0, or NaN
    return x.re > 0 ? gpulua_complex<R>(x.re, rest == 0 ? copysign(R(0), x.im) : rest)
                    : gpulua_complex<R>(fabs(rest), rest == 0 ? copysign(x.re, x.im) : x.re);
  }
  // Sizes that neither overflow nor lose their last digits below the smallest number.
  const R a = fmax(fabs(x.re), fabs(x.im)), large = gpulua_complex_limits<R>::large;
  const R scale = a > large ? R(0.0625) : a < R(1) / large ? large * large : R(1);
  const R root = a > large ? R(4) : a < R(1) / large ? R(1) / large : R(1);
  const R re = x.re * scale, im = x.im * scale;
  const R t = sqrt(R(0.5) * (fabs(re) + hypot(re, im)));
  if (x.re >= 0) return {t * root, im / (2 * t) * root};
  return {fabs(im) / (2 * t) * root, copysign(t, x.im) * root};
}

template <class R>
__device__ inline gpulua_complex<R> pow(gpulua_complex<R> x, gpulua_complex<R> y) {
  if (y.re == 0 && y.im == 0) return {1, 0};
  if (x.re == 0 && x.im == 0) {
    const R nan = R(0) / (x.re * x.re);
    return y.re > 0 ? gpulua_complex<R>(0, 0) : gpulua_complex<R>(nan, nan);
  }
  const R whole = rint(y.re);
  if (y.im == 0 && y.re == whole && fabs(whole) < 100) {
    if (whole == 1) return x;
    gpulua_complex<R> result(1, 0), base = x;
    for (int n = abs((int)whole); n != 0; n /= 2, base = base * base)
      if (n % 2 != 0) result = result * base;
    return whole < 0 ? gpulua_complex<R>(1, 0) / result : result;
  }
  return exp(y * log(x));
}

// ---- hyperbolic and trigonometric functions -------------------------------------------------------------------------------------

template <class R>
__device__ inline gpulua_complex<R> cosh(gpulua_complex<R> x) {
  const R nan = x.im - x.im;  // or 0
  if (x.im == 0) return {cosh(x.re), x.re == 0 || x.re != x.re ? copysign(R(0), x.re) * x.im : copysign(R(0), x.re) * copysign(R(1), x.im)};
  if (nan != nan) {
    if (x.re == 0) return {nan, 0};
    return isinf(x.re) ? gpulua_complex<R>(fabs(x.re), nan) : gpulua_complex<R>(nan, nan);
  }
  if (fabs(x.re) >= gpulua_complex_limits<R>::power) {
    const gpulua_complex<R> half = gpulua_polar(fabs(x.re), x.im, R(0.5));
    return {half.re, x.re < 0 ? -half.im : half.im};
  }
  return {cosh(x.re) * cos(x.im), sinh(x.re) * sin(x.im)};
}
template <class R>
__device__ inline gpulua_complex<R> sinh(gpulua_complex<R> x) {
  const R nan = x.im - x.im;  // or 0
  if (x.im == 0) return {sinh(x.re), x.im};
  if (nan != nan) {
    if (x.re == 0) return {x.re, nan};
    return isinf(x.re) ? gpulua_complex<R>(x.re, nan) : gpulua_complex<R>(nan, nan);
  }
  if (fabs(x.re) >= gpulua_complex_limits<R>::power) {
    const gpulua_complex<R> half = gpulua_polar(fabs(x.re), x.im, R(0.5));
    return {x.re < 0 ? -half.re : half.re, half.im};
  }
  return {sinh(x.re) * cos(x.im), cosh(x.re) * sin(x.im)};
}
// W. Kahan, "Branch cuts for complex elementary functions", 1987; so are the inverse functions below.
template <class R>
__device__ inline gpulua_complex<R> tanh(gpulua_complex<R> x) {
  const R nan = x.im - x.im;  // or 0
  if (nan != nan && !isinf(x.re)) return {x.re == 0 ? x.re : nan, nan};
  if (fabs(x.re) > gpulua_complex_limits<R>::flat) {
    const R decay = exp(-2 * fabs(x.re));
    return {copysign(R(1), x.re), nan != nan ? copysign(R(0), x.im) : decay == 0 ? copysign(R(0), sin(2 * x.im)) : 2 * sin(2 * x.im) * decay};
  }
  if (x.im == 0) return {tanh(x.re), x.im};
  const R t = tan(x.im), s = sinh(x.re);
  const R square = 1 + t * t, root = sqrt(1 + s * s), under = 1 + square * s * s;
  return {square * root * s / under, t / under};
}
template <class R>
__device__ inline gpulua_complex<R> sin(gpulua_complex<R> x) {
  return gpulua_turned_back(sinh(gpulua_turned(x)));
}
template <class R>
__device__ inline gpulua_complex<R> cos(gpulua_complex<R> x) {
  return cosh(gpulua_turned(x));
}
template <class R>
__device__ inline gpulua_complex<R> tan(gpulua_complex<R> x) {
  return gpulua_turned_back(tanh(gpulua_turned(x)));
}

// ---- their inverses --------------------------------------------------------------------------------------------------------------

// The logarithm of 2 |x|, for x so large that x + 1 is x; and the angle.
template <class R>
__device__ inline gpulua_complex<R> gpulua_log_twice(R re, R im) {
  const gpulua_complex<R> half = log(gpulua_complex<R>(re / 2, im / 2));
  return {half.re + R(1.3862943611198906188), half.im};
}
template <class R>
__device__ inline bool gpulua_is_large(gpulua_complex<R> x) {
  return fabs(x.re) > gpulua_complex_limits<R>::large || fabs(x.im) > gpulua_complex_limits<R>::large;
}

template <class R>
__device__ inline gpulua_complex<R> asinh(gpulua_complex<R> x) {
  if (gpulua_is_large(x)) {
    const gpulua_complex<R> w = gpulua_log_twice(fabs(x.re), fabs(x.im));
    return {copysign(w.re, x.re), copysign(w.im, x.im)};
  }
  if (x.re != x.re && x.im == 0) return x;
  if (x.re != x.re || x.im != x.im) return {x.re + x.im, x.re + x.im};
  // 1 + i x and 1 - i x, with the signs of zeros that put x on its side of a branch cut
  const gpulua_complex<R> below = sqrt(gpulua_complex<R>(1 - x.im, x.re)), above = sqrt(gpulua_complex<R>(1 + x.im, -x.re));
  return {asinh(below.im * above.re - below.re * above.im), atan2(x.im, (above * below).re)};
}
template <class R>
__device__ inline gpulua_complex<R> acos(gpulua_complex<R> x) {
  if (gpulua_is_large(x)) {
    const gpulua_complex<R> w = gpulua_log_twice(x.re, fabs(x.im));
    return {w.im, copysign(w.re, -x.im)};
  }
  if (x.re != x.re || x.im != x.im)
    return {x.re == 0 ? R(1.5707963267948966192) : x.re + x.im, x.re + x.im};
  const gpulua_complex<R> less = sqrt(gpulua_complex<R>(1 - x.re, -x.im)), more = sqrt(gpulua_complex<R>(1 + x.re, x.im));
  return {2 * atan2(less.re, more.re), asinh(more.re * less.im - more.im * less.re)};
}
template <class R>
__device__ inline gpulua_complex<R> acosh(gpulua_complex<R> x) {
  const gpulua_complex<R> w = acos(x);
  if (w.re != w.re && w.im != w.im) return w;
  return w.im <= 0 && !(w.im == 0 && signbit(x.im)) ? gpulua_complex<R>(-w.im, w.re) : gpulua_complex<R>(w.im, -w.re);
}
template <class R>
__device__ inline gpulua_complex<R> asin(gpulua_complex<R> x) {
  return gpulua_turned_back(asinh(gpulua_turned(x)));
}
template <class R>
__device__ inline gpulua_complex<R> atanh(gpulua_complex<R> x) {
  const R quarter = R(1.5707963267948966192);
  if (gpulua_is_large(x)) {
    const R re = isinf(x.re) || isinf(x.im) ? R(0) : (gpulua_complex<R>(1) / x).re;
    return {copysign(re, x.re), x.im != x.im ? x.im : copysign(quarter, x.im)};
  }
  if (x.re != x.re || x.im != x.im) return {x.re == 0 ? x.re : x.re + x.im, x.re + x.im};
  const R rest = 1 - fabs(x.re), square = x.im * x.im;
  // Next to a pole the square of the distance from it underflows, and the logarithm is that of 2 / distance.
  const bool at_pole = rest == 0 && fabs(x.im) < R(1) / gpulua_complex_limits<R>::large;
  const R re = at_pole ? R(0.5) * (R(0.69314718055994530942) - log(fabs(x.im)))
                       : log1p(4 * fabs(x.re) / (rest * rest + square)) / 4;
  const R im = x.im == 0 && fabs(x.re) <= 1 ? x.im : atan2(2 * x.im, rest * (1 + fabs(x.re)) - square) / 2;
  return {copysign(re, x.re), im};
}
template <class R>
__device__ inline gpulua_complex<R> atan(gpulua_complex<R> x) {
  return gpulua_turned_back(atanh(gpulua_turned(x)));
}
