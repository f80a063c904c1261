// Arithmetic that C++ leaves open or spells another way than NumPy: integers wrap, division by zero gives 0, shifts may be as
// wide as they like.

template <class T>
struct gpulua_unsigned {
  using type = T;
};
template <>
struct gpulua_unsigned<int> {
  using type = unsigned int;
};
template <>
struct gpulua_unsigned<long long> {
  using type = unsigned long long;
};

#define GPULUA_WRAPPING(name, op)                                                           \
  template <class T>                                                                        \
  __device__ inline T name(T x, T y) {                                                      \
    using U = typename gpulua_unsigned<decltype(x + y)>::type;                              \
    return (T)((U)x op (U)y);                                                               \
  }
GPULUA_WRAPPING(gpulua_add, +)
GPULUA_WRAPPING(gpulua_subtract, -)
GPULUA_WRAPPING(gpulua_multiply, *)
#undef GPULUA_WRAPPING
__device__ inline float gpulua_add(float x, float y) { return x + y; }
__device__ inline double gpulua_add(double x, double y) { return x + y; }
__device__ inline float gpulua_multiply(float x, float y) { return x * y; }
__device__ inline double gpulua_multiply(double x, double y) { return x * y; }
// Rounded whatever is done with it: no part of a sum that is rounded once.
__device__ inline float gpulua_product(float x, float y) { return __fmul_rn(x, y); }
__device__ inline double gpulua_product(double x, double y) { return __dmul_rn(x, y); }

template <class T>
__device__ inline T gpulua_negative(T x) {
  return gpulua_subtract(T(0), x);
}

template <class T>
__device__ inline T gpulua_abs(T x) {
  return x < T(0) ? gpulua_negative(x) : x;
}

// ---- division: the quotient rounds down, and the remainder has the divisor's sign ---------------------------------------------

template <class T>
__device__ inline T gpulua_floor_divide(T x, T y) {
  if (y == T(0)) return T(0);
  // Narrower numbers are divided as int, where the quotient does not overflow.
  if (gpulua_limits<T>::is_signed && sizeof(T) >= sizeof(int) && y == T(-1)) return gpulua_negative(x);
  const T quotient = x / y;
  return quotient * y != x && ((x < T(0)) != (y < T(0))) ? quotient - T(1) : quotient;
}

template <class T>
__device__ inline T gpulua_fmod(T x, T y) {
  if (y == T(0) || (gpulua_limits<T>::is_signed && y == T(-1))) return T(0);
  return x % y;
}

template <class T>
__device__ inline T gpulua_remainder(T x, T y) {
  const T rest = gpulua_fmod(x, y);
  return rest != T(0) && ((rest < T(0)) != (y < T(0))) ? rest + y : rest;
}

// A divisor that is the same for all elements. Divisor in src/eval/divisor.h is the same struct: a multiplier of 0 stands for a
// divisor that has none.
template <class T>
struct gpulua_divisor {
  unsigned long long multiplier;
  long long value;
  int shift;

  __device__ operator T() const { return (T)value; }
};

// Divisors without a multiplier have functions of their own. Inlined, three divisions of 64 bits in an expression kept NVRTC
// busy without an end.
#ifdef GPULUA_CPU
#define GPULUA_RARE inline
#else
#define GPULUA_RARE __noinline__
#endif
template <class T>
__device__ GPULUA_RARE T gpulua_rare_quotient(T x, T y) {
  return gpulua_floor_divide(x, y);
}
template <class T>
__device__ GPULUA_RARE T gpulua_rare_remainder(T x, T y) {
  return gpulua_remainder(x, y);
}
#undef GPULUA_RARE

// A quotient that rounds down is that of the number's complement, complemented, where the number is negative.
template <class T>
__device__ inline T gpulua_floor_divide(T x, const gpulua_divisor<T>& y) {
  if (y.multiplier == 0) return gpulua_rare_quotient(x, (T)y);
  if (sizeof(T) == 8) {
    const long long sign = (long long)x >> 63;
    return (T)((long long)(__umul64hi((unsigned long long)(x ^ sign) << 1, y.multiplier) >> y.shift) ^ sign);
  }
  const int sign = (int)x >> 31;
  return (T)((int)(__umulhi((unsigned int)((int)x ^ sign) << 1, (unsigned int)y.multiplier) >> y.shift) ^ sign);
}

template <class T>
__device__ inline T gpulua_remainder(T x, const gpulua_divisor<T>& y) {
  if (y.multiplier == 0) return gpulua_rare_remainder(x, (T)y);
  const T quotient = gpulua_floor_divide(x, y);
  if (sizeof(T) == 8) return (T)((unsigned long long)x - (unsigned long long)quotient * (unsigned long long)y.value);
  return (T)((unsigned int)x - (unsigned int)quotient * (unsigned int)y.value);
}

#define GPULUA_REAL_DIVISION(Real)                                                                    \
  __device__ inline Real gpulua_remainder(Real x, Real y) {                                           \
    const Real rest = fmod(x, y);                                                                     \
    if (rest != 0) return (rest < 0) != (y < 0) ? rest + y : rest;                                    \
    return rest == rest ? copysign(Real(0), y) : rest;                                                \
  }                                                                                                   \
  __device__ inline Real gpulua_floor_divide(Real x, Real y) {                                        \
    if (y == 0) return x / y;                                                                         \
    const Real rest = fmod(x, y);                                                                     \
    Real quotient = (x - rest) / y;                                                                   \
    if (rest != 0 && (rest < 0) != (y < 0)) quotient -= 1;                                            \
    if (quotient == 0) return copysign(Real(0), x / y);                                               \
    const Real down = floor(quotient);                                                                \
    return quotient - down > Real(0.5) ? down + 1 : down;                                             \
  }
GPULUA_REAL_DIVISION(float)
GPULUA_REAL_DIVISION(double)
#undef GPULUA_REAL_DIVISION

// By squaring. A negative exponent gives what 1 / x^-y truncates to.
template <class T>
__device__ inline T gpulua_power(T x, T y) {
  if (y < T(0)) return x == T(1) ? T(1) : x == T(-1) ? (y % T(2) == T(0) ? T(1) : T(-1)) : T(0);
  T result = 1;
  for (T base = x; y > T(0); y = y / T(2), base = gpulua_multiply(base, base))
    if (y % T(2) != T(0)) result = gpulua_multiply(result, base);
  return result;
}

// ---- bits ------------------------------------------------------------------------------------------------------------------

// A shift by less than 0 or by the width or more moves all bits out.
template <class T>
__device__ inline T gpulua_left_shift(T x, T y) {
  if (y < T(0) || y >= T(8 * sizeof(T))) return T(0);
  return (T)((typename gpulua_unsigned<decltype(x + y)>::type)x << y);
}
template <class T>
__device__ inline T gpulua_right_shift(T x, T y) {
  if (y < T(0) || y >= T(8 * sizeof(T))) return x < T(0) ? T(-1) : T(0);
  return x >> y;
}

// The size of a number, as an unsigned one: that of the least has no place among the signed.
template <class T>
__device__ inline typename gpulua_unsigned<decltype(T() + T())>::type gpulua_size(T x) {
  using U = typename gpulua_unsigned<decltype(T() + T())>::type;
  return (U)gpulua_abs(x) & (U)(~0ull >> (64 - 8 * sizeof(T)));
}

template <class T>
__device__ inline int gpulua_bitwise_count(T x) {
  return __popcll(gpulua_size(x));
}

// Rounds x, of 64 bits, to a multiple of 2 * half; halves to the even multiple. A half of 0 stands for one beyond all
// numbers. Results end at `most`, and below 0 at -most - 1.
template <class T>
__device__ inline T gpulua_round_integer(T x, T half, T most) {
  if (half == T(0)) return T(0);
  const unsigned long long size = gpulua_size(x), unit = 2ull * half, multiples = size / unit, rest = size - multiples * unit;
  const unsigned long long end = (unsigned long long)most + (x < T(0));
  unsigned long long rounded = size - rest;
  if (rest > half || (rest == half && multiples % 2 != 0)) rounded = rounded > end - unit || unit > end ? end : rounded + unit;
  if (rounded > end) rounded = end;
  return (T)(x < T(0) ? 0 - rounded : rounded);
}

// ---- divisors ------------------------------------------------------------------------------------------------------------------

template <class T>
__device__ inline T gpulua_gcd(T x, T y) {
  auto a = gpulua_size(x), b = gpulua_size(y);
  while (a != 0) {
    const auto rest = b % a;
    b = a;
    a = rest;
  }
  return (T)b;
}
template <class T>
__device__ inline T gpulua_lcm(T x, T y) {
  const T divisor = gpulua_gcd(x, y);
  if (divisor == T(0)) return T(0);
  return gpulua_multiply((T)(gpulua_size(x) / gpulua_size(divisor)), gpulua_abs(y));
}

// ---- order: NaN wins -----------------------------------------------------------------------------------------------------------

template <class T>
__device__ inline T gpulua_maximum(T x, T y) {
  return x != x || x > y ? x : y;
}
template <class T>
__device__ inline T gpulua_minimum(T x, T y) {
  return x != x || x < y ? x : y;
}

