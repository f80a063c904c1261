// Arithmetic and conversions with a directed rounding mode in the name. The modes other than to nearest are made from the nearest
// result and the sign of its error, which an exact residual gives; the processor's own mode is never touched.
#pragma once
#pragma clang force_cuda_host_device begin

// Whatever the options say: no reciprocals for divisions, and nothing is fused with what is around it.
#pragma float_control(precise, on, push)
#define GPULUA_EXACT _Pragma("clang fp contract(off)")

// ---- from the nearest to another mode --------------------------------------------------------------------------------------

enum gpulua_mode { gpulua_rn, gpulua_rz, gpulua_ru, gpulua_rd, gpulua_odd };  // odd: for rounding once more afterwards

inline int gpulua_bits(float x) { return __float_as_int(x); }
inline long long gpulua_bits(double x) { return __double_as_longlong(x); }
inline float gpulua_from_bits(int x) { return __int_as_float(x); }
inline double gpulua_from_bits(long long x) { return __longlong_as_double(x); }

/// The number next to `x`, upwards or downwards.
template <class _Tp>
inline _Tp gpulua_next(_Tp x, bool up) {
  auto bits = gpulua_bits(x);
  if (x == 0) return up ? gpulua_from_bits((decltype(bits))1) : -gpulua_from_bits((decltype(bits))1);
  return gpulua_from_bits((decltype(bits))((x > 0) == up ? bits + 1 : bits - 1));
}
/// The exact value in the mode; `nearest` is it rounded, and `error`, of which the sign counts, is what that lacks. A NaN for
/// an error leaves `nearest`.
template <gpulua_mode mode, class _Tp>
inline _Tp gpulua_directed(_Tp nearest, double error) {
  bool up = mode == gpulua_ru   ? error > 0
            : mode == gpulua_rz ? error > 0 && nearest < 0
                                : mode == gpulua_odd && error > 0 && !(gpulua_bits(nearest) & 1);
  bool down = mode == gpulua_rd   ? error < 0
              : mode == gpulua_rz ? error < 0 && nearest > 0
                                  : mode == gpulua_odd && error < 0 && !(gpulua_bits(nearest) & 1);
  return up || down ? gpulua_next(nearest, up) : nearest;
}
/// The same for a sum of `a` and `b`: an exact zero from different signs is -0 downwards.
template <gpulua_mode mode>
inline double gpulua_directed_sum(double nearest, double error, double a, double b) {
  if (mode == gpulua_rd && nearest == 0.0 && error == 0.0 && __builtin_signbit(a) != __builtin_signbit(b)) return -0.0;
  return gpulua_directed<mode>(nearest, error);
}

// ---- double ----------------------------------------------------------------------------------------------------------------

/// a + b - sum, exactly, or the sign of it where the sum overflows.
inline double gpulua_sum_error(double a, double b, double sum) {
  GPULUA_EXACT
  if (__builtin_isinf(sum)) return __builtin_isinf(a) || __builtin_isinf(b) ? 0.0 : -sum;
  bool first = __builtin_fabs(a) > __builtin_fabs(b);
  return (first ? b : a) - (sum - (first ? a : b));
}
/// The sign of a b - product. Near the subnormals the residual is computed 2^600 times as large.
inline double gpulua_product_error(double a, double b, double product) {
  if (product == 0.0) return a == 0.0 || b == 0.0 ? 0.0 : copysign(1.0, a) * copysign(1.0, b);
  if (fabs(product) >= 0x1p-900) return fma(a, b, -product);
  bool first = fabs(a) < fabs(b);
  return fma(first ? a * 0x1p600 : a, first ? b : b * 0x1p600, -product * 0x1p600);
}

template <gpulua_mode mode>
inline double gpulua_add(double a, double b) {
  GPULUA_EXACT
  double sum = a + b;
  return gpulua_directed_sum<mode>(sum, gpulua_sum_error(a, b, sum), a, b);
}
template <gpulua_mode mode>
inline double gpulua_multiply(double a, double b) {
  GPULUA_EXACT
  double product = a * b;
  return gpulua_directed<mode>(product, gpulua_product_error(a, b, product));
}
template <gpulua_mode mode>
inline double gpulua_divide(double a, double b) {
  GPULUA_EXACT
  double quotient = a / b, side = copysign(1.0, b);
  if (b == 0.0 || __builtin_isinf(a) || __builtin_isinf(b)) return quotient;
  if (quotient == 0.0) return gpulua_directed<mode>(quotient, a == 0.0 ? 0.0 : copysign(1.0, a) * side);
  double scale = fabs(a) < 0x1p-900 ? 0x1p600 : 1.0;
  return gpulua_directed<mode>(quotient, fma(-quotient, b * scale, a * scale) * side);
}
template <gpulua_mode mode>
inline double gpulua_root(double x) {
  double root = sqrt(x);
  if (!(x > 0.0) || x == __builtin_inf()) return root;
  return gpulua_directed<mode>(root, x < 0x1p-900 ? fma(-root * 0x1p300, root * 0x1p300, x * 0x1p600) : fma(-root, root, x));
}
/// The residual is a sum of three parts, exact within the range to which everything is scaled. A summand far below the other
/// only counts by its sign.
template <gpulua_mode mode>
inline double gpulua_multiply_add(double a, double b, double c) {
  GPULUA_EXACT
  double result = fma(a, b, c), product = a * b, size = fabs(product);
  if (__builtin_isinf(a) || __builtin_isinf(b) || __builtin_isinf(c) || result != result) return result;
  if (a == 0.0 || b == 0.0) return gpulua_directed_sum<mode>(result, 0.0, product, c);
  if (__builtin_isinf(result)) return gpulua_directed<mode>(result, -result);
  if (size == 0.0 || size < fabs(c) * 0x1p-110) return gpulua_directed<mode>(result, copysign(1.0, a) * copysign(1.0, b));
  if (c != 0.0 && !__builtin_isinf(size) && fabs(c) < size * 0x1p-200) c = copysign(size * 0x1p-200, c);
  double scale = size < 0x1p-800 ? 0x1p600 : size > 0x1p1000 || fabs(c) > 0x1p1000 ? 0x1p-600 : 1.0;
  bool first = (fabs(a) < fabs(b)) == (scale > 1.0);
  double x = first ? a * scale : a, y = first ? b : b * scale, z = c * scale, r = result * scale;
  double high = x * y, low = fma(x, y, -high);
  double tail = z + low, tail_low = gpulua_sum_error(z, low, tail);
  double sum = high + tail, sum_low = gpulua_sum_error(high, tail, sum);
  double rest = (sum - r) + sum_low;
  return gpulua_directed_sum<mode>(result, rest + tail_low, product, c);
}

// ---- float: a double holds what the nearest result lacks ---------------------------------------------------------------------

/// high + low in the mode, of two doubles that don't overlap.
template <gpulua_mode mode>
inline float gpulua_to_float(double high, double low = 0.0) {
  float nearest = (float)high;
  double rest = high - nearest;
  // A tie of `high` that `low` breaks.
  if (mode == gpulua_rn && low != 0.0) {
    float other = rest == 0.0 ? nearest : gpulua_next(nearest, rest > 0);
    if (rest != 0.0 && __builtin_fabs(other - high) == __builtin_fabs(rest) && (low > 0) == (rest > 0)) return other;
    return nearest;
  }
  return gpulua_directed<mode>(nearest, rest != 0.0 ? rest : low);
}
template <gpulua_mode mode>
inline float gpulua_add(float a, float b) {
  GPULUA_EXACT
  double sum = (double)a + b;
  if (sum == 0.0) return (float)gpulua_directed_sum<mode>(sum, 0.0, a, b);
  return gpulua_to_float<mode>(sum, gpulua_sum_error(a, b, sum));
}
template <gpulua_mode mode>
inline float gpulua_multiply(float a, float b) {
  return gpulua_to_float<mode>((double)a * b);
}
template <gpulua_mode mode>
inline float gpulua_multiply_add(float a, float b, float c) {
  GPULUA_EXACT
  double product = (double)a * b, sum = product + c;
  if (sum == 0.0) return (float)gpulua_directed_sum<mode>(sum, 0.0, product, c);
  return gpulua_to_float<mode>(sum, gpulua_sum_error(product, c, sum));
}
template <gpulua_mode mode>
inline float gpulua_divide(float a, float b) {
  GPULUA_EXACT
  float quotient = a / b;
  if (b == 0.0f || __builtin_isinf(a) || __builtin_isinf(b)) return quotient;
  return gpulua_directed<mode>(quotient, fma(-(double)quotient, (double)b, (double)a) * copysign(1.0, (double)b));
}
template <gpulua_mode mode>
inline float gpulua_root(float x) {
  float root = sqrtf(x);
  if (!(x > 0.0f) || x == __builtin_inff()) return root;
  return gpulua_directed<mode>(root, fma(-(double)root, (double)root, (double)x));
}

// ---- CUDA's names ------------------------------------------------------------------------------------------------------------

#define GPULUA_DIRECTED(mode)                                                                                      \
  inline float __fadd_##mode(float x, float y) { return gpulua_add<gpulua_##mode>(x, y); }                         \
  inline float __fsub_##mode(float x, float y) { return gpulua_add<gpulua_##mode>(x, -y); }                        \
  inline float __fmul_##mode(float x, float y) { return gpulua_multiply<gpulua_##mode>(x, y); }                    \
  inline float __fdiv_##mode(float x, float y) { return gpulua_divide<gpulua_##mode>(x, y); }                      \
  inline float __frcp_##mode(float x) { return gpulua_divide<gpulua_##mode>(1.0f, x); }                            \
  inline float __fsqrt_##mode(float x) { return gpulua_root<gpulua_##mode>(x); }                                   \
  inline float __fmaf_##mode(float x, float y, float z) { return gpulua_multiply_add<gpulua_##mode>(x, y, z); }    \
  inline double __dadd_##mode(double x, double y) { return gpulua_add<gpulua_##mode>(x, y); }                      \
  inline double __dsub_##mode(double x, double y) { return gpulua_add<gpulua_##mode>(x, -y); }                     \
  inline double __dmul_##mode(double x, double y) { return gpulua_multiply<gpulua_##mode>(x, y); }                 \
  inline double __ddiv_##mode(double x, double y) { return gpulua_divide<gpulua_##mode>(x, y); }                   \
  inline double __drcp_##mode(double x) { return gpulua_divide<gpulua_##mode>(1.0, x); }                           \
  inline double __dsqrt_##mode(double x) { return gpulua_root<gpulua_##mode>(x); }                                 \
  inline double __fma_##mode(double x, double y, double z) { return gpulua_multiply_add<gpulua_##mode>(x, y, z); } \
  inline float __double2float_##mode(double x) { return gpulua_to_float<gpulua_##mode>(x); }                       \
  inline float __int2float_##mode(int x) { return gpulua_to_float<gpulua_##mode>(x); }                             \
  inline float __uint2float_##mode(unsigned int x) { return gpulua_to_float<gpulua_##mode>(x); }                   \
  inline float __ll2float_##mode(long long x) { return gpulua_from_integer64<gpulua_##mode, float, 24>(x); }       \
  inline float __ull2float_##mode(unsigned long long x) { return gpulua_from_natural<gpulua_##mode, float, 24>(x); } \
  inline double __ll2double_##mode(long long x) { return gpulua_from_integer64<gpulua_##mode, double, 53>(x); }    \
  inline double __ull2double_##mode(unsigned long long x) { return gpulua_from_natural<gpulua_##mode, double, 53>(x); }

/// Truncated to the digits that the type holds, then one up where the mode says so.
template <gpulua_mode mode, class _Tp, int digits>
inline _Tp gpulua_from_natural(unsigned long long x) {
  int excess = x == 0 ? 0 : 64 - digits - __builtin_clzll(x);
  if (excess <= 0) return (_Tp)x;
  unsigned long long kept = x >> excess << excess;
  return mode == gpulua_ru && kept != x ? gpulua_next((_Tp)kept, true) : (_Tp)kept;
}
template <gpulua_mode mode, class _Tp, int digits>
inline _Tp gpulua_from_integer64(long long x) {
  constexpr gpulua_mode opposite = mode == gpulua_ru ? gpulua_rd : mode == gpulua_rd ? gpulua_ru : mode;
  return x < 0 ? -gpulua_from_natural<opposite, _Tp, digits>(-(unsigned long long)x) : gpulua_from_natural<mode, _Tp, digits>(x);
}
GPULUA_DIRECTED(rz)
GPULUA_DIRECTED(ru)
GPULUA_DIRECTED(rd)
#undef GPULUA_DIRECTED
#undef GPULUA_EXACT
#pragma float_control(pop)
#pragma clang force_cuda_host_device end
