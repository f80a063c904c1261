// Functions of real numbers that neither C nor CUDA has. R is float or double.

template <class R>
__device__ inline R gpulua_sign(R x) {
  return x > 0 ? R(1) : x < 0 ? R(-1) : x == 0 ? R(0) : x;
}

template <class R>
__device__ inline R gpulua_sigmoid(R x) {
  const R power = exp(-fabs(x));  // never overflows
  return (x < 0 ? power : R(1)) / (R(1) + power);
}

// x to the power y, a number of halves from -3 to 3 that is the same for all elements: products of x, or of 1 / x, and a root.
// The result is within three units in the last place; a GPU's pow is within four.
template <class R>
__device__ inline R gpulua_power_of_halves(R x, R y) {
  const int halves = (int)fabs(y + y);
  const R base = y < 0 ? R(1) / x : x;
  R power = R(1);
  for (int i = 1; i < halves; i += 2) power *= base;
  // pow takes -inf and -0 as if they were positive.
  return halves % 2 == 0 ? power : fabs(power * sqrt(isinf(base) ? fabs(base) : base));
}

template <class R>
__device__ inline R gpulua_logaddexp(R x, R y) {
  if (x == y) return x + R(0.69314718055994530942);
  const R difference = x - y;
  if (difference > 0) return x + log1p(exp(-difference));
  return difference <= 0 ? y + log1p(exp(difference)) : difference;
}

template <class R>
__device__ inline R gpulua_logaddexp2(R x, R y) {
  if (x == y) return x + R(1);
  const R difference = x - y, scale = R(1.4426950408889634074);
  if (difference > 0) return x + scale * log1p(exp2(-difference));
  return difference <= 0 ? y + scale * log1p(exp2(difference)) : difference;
}

// sin(pi x) / (pi x)
template <class R>
__device__ inline R gpulua_sinc(R x) {
  return x == 0 ? R(1) : sinpi(x) / (R(3.14159265358979323846) * x);
}

// The derivative of that order of sinc.
__device__ __noinline__ inline double gpulua_sinc_derivative(double order, double x) {
  const double pi = 3.14159265358979323846;
  const int last = (int)order;
  if (!(fabs(x) >= 0.75 + 0.25 * order)) {
    // Taylor's series of the derivative, from the first power of pi x that remains.
    const int first = last % 2;
    double term = last % 4 == 1 || last % 4 == 2 ? -1 : 1;
    for (int k = 0; k < last; ++k) term *= pi;
    term *= first ? pi * x / (order + 2) : 1 / (order + 1);
    double sum = term;
    const double square = -(pi * x) * (pi * x);
    for (int k = first + 2; k < 200; k += 2) {
      term *= square / ((double)k * (k - 1)) * ((order + k - 1) / (order + k + 1));
      sum += term;
      if (!(fabs(term) > fabs(sum) * 1e-17)) break;
    }
    return sum;
  }
  // x sinc(x) is sin(pi x) / pi.
  const double sine = sinpi(x), cosine = cospi(x);
  double value = sine / (pi * x), power = 1;
  for (int k = 1; k <= last; ++k) {
    value = (power * (k % 4 == 0 ? sine : k % 4 == 1 ? cosine : k % 4 == 2 ? -sine : -cosine) - k * value) / x;
    power *= pi;
  }
  return value;
}

template <class R>
__device__ inline R gpulua_heaviside(R x, R middle) {
  return x > 0 ? R(1) : x < 0 ? R(0) : x == 0 ? middle : x;
}

__device__ inline float gpulua_ldexp(float x, long long exponent) {
  return ldexpf(x, (int)(exponent > 10000 ? 10000 : exponent < -10000 ? -10000 : exponent));
}
__device__ inline double gpulua_ldexp(double x, long long exponent) {
  return ldexp(x, (int)(exponent > 10000 ? 10000 : exponent < -10000 ? -10000 : exponent));
}

// The next number of type T, of which 16-bit ones are given as float.
template <class T>
struct gpulua_adjacent {
  __device__ static float after(float x, float y) {
    if (!(x != y)) return y;
    if (x != x || y != y) return x + y;
    T next = gpulua_convert<T>::from(x);
    if (x == 0)
      next.bits = y < 0 ? 0x8001 : 1;
    else
      next.bits += (x < y) == (x > 0) ? 1 : -1;
    return gpulua_widen(next);
  }
};
template <>
struct gpulua_adjacent<float> {
  __device__ static float after(float x, float y) { return nextafterf(x, y); }
};
template <>
struct gpulua_adjacent<double> {
  __device__ static double after(double x, double y) { return nextafter(x, y); }
};

// The distance to the next number away from 0, with x's sign.
template <class T, class R>
__device__ inline R gpulua_spacing(R x) {
  const R infinity = __int_as_float(0x7f800000);
  return gpulua_adjacent<T>::after(x, x < 0 ? -infinity : infinity) - x;
}

template <class R>
__device__ inline R gpulua_nan_to_num(R x, R nan, R highest, R lowest) {
  return x != x ? nan : !isinf(x) ? x : x > 0 ? highest : lowest;
}

// Rounds to decimals, where `scale` is a power of ten. Numbers that have none overflow when they are scaled.
template <class R>
__device__ inline R gpulua_round_decimals(R x, R scale) {
  const R scaled = x * scale;
  return isfinite(scaled) ? rint(scaled) / scale : x;
}
// Rounds to multiples of a power of ten, which may be infinite.
template <class R>
__device__ inline R gpulua_round_tens(R x, R unit) {
  const R tens = rint(x / unit);
  return isinf(x) ? x : tens == 0 ? tens : tens * unit;
}

// ---- real numbers as complex ones ------------------------------------------------------------------------------------------------

template <class R>
__device__ inline R gpulua_real(R x) {
  return x;
}
template <class R>
__device__ inline R gpulua_imag(R) {
  return R(0);
}
template <class R>
__device__ inline R gpulua_conj(R x) {
  return x;
}
template <class R>
__device__ inline R gpulua_angle(R x) {
  return x != x ? x : signbit(x) ? R(3.14159265358979323846) : R(0);
}
