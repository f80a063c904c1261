// Element types and conversions between them, for the kernels that gpulua writes. Both devices compile this text.
// Conversions: floating to integer truncates, saturates at the limits and takes NaN to 0; integer to integer wraps;
// anything to bool is != 0; complex to real drops the imaginary part.

struct gpulua_half {
  unsigned short bits;
};
struct gpulua_bfloat16 {
  unsigned short bits;
};
// CUDA's vector of two parts.
template <class Real>
struct gpulua_pair;
template <>
struct gpulua_pair<float> {
  using type = float2;
};
template <>
struct gpulua_pair<double> {
  using type = double2;
};
// The parts have the names of such a vector's too.
template <class Real>
struct alignas(2 * sizeof(Real)) gpulua_complex {
  union {
    Real re, x;
  };
  union {
    Real im, y;
  };
  gpulua_complex() = default;
  __device__ constexpr gpulua_complex(Real re_, Real im_ = Real(0)) : re(re_), im(im_) {}
  __device__ constexpr gpulua_complex(typename gpulua_pair<Real>::type parts) : re(parts.x), im(parts.y) {}
  __device__ constexpr Real real() const { return re; }
  __device__ constexpr Real imag() const { return im; }
};
using gpulua_complex64 = gpulua_complex<float>;
using gpulua_complex128 = gpulua_complex<double>;

__device__ inline float gpulua_widen(gpulua_half x) {
#ifdef GPULUA_CPU
  _Float16 value;
  __builtin_memcpy(&value, &x.bits, 2);
  return value;
#else
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(x.bits));
  return value;
#endif
}

__device__ inline float gpulua_widen(gpulua_bfloat16 x) { return __int_as_float(x.bits << 16); }

template <class Real>
__device__ inline gpulua_half gpulua_to_half(Real x) {
  gpulua_half result;
#ifdef GPULUA_CPU
  const _Float16 value = x;
  __builtin_memcpy(&result.bits, &value, 2);
#else
  if (sizeof(Real) == 8) {
    asm("cvt.rn.f16.f64 %0, %1;" : "=h"(result.bits) : "d"((double)x));
  } else {
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"((float)x));
  }
#endif
  return result;
}

__device__ inline gpulua_bfloat16 gpulua_to_bfloat16(float x) {
  const unsigned int bits = __float_as_int(x);
  if (x != x) return {(unsigned short)((bits >> 16) | 0x40)};
  // Half of the last place kept, less one where that place is even: ties go to even.
  return {(unsigned short)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
}
// By way of a float that keeps, as its last bit, whether there was more: so it is rounded once.
__device__ inline gpulua_bfloat16 gpulua_to_bfloat16(double x) {
  const float nearest = (float)x;
  const double back = nearest;
  int bits = __float_as_int(nearest);
  if (x == x && back != x && !(bits & 1)) bits += (back < 0 ? -back : back) < (x < 0 ? -x : x) ? 1 : -1;
  return gpulua_to_bfloat16(__int_as_float(bits));
}
__device__ inline gpulua_bfloat16 gpulua_to_bfloat16(int x) { return gpulua_to_bfloat16((double)x); }
__device__ inline gpulua_bfloat16 gpulua_to_bfloat16(unsigned int x) { return gpulua_to_bfloat16((double)x); }
// A double holds integers of 53 bits. Of larger ones it is enough to know whether there are any of the last 11 bits.
__device__ inline gpulua_bfloat16 gpulua_to_bfloat16(long long x) {
  const long long top = x >> 53;
  if (top == 0 || top == -1) return gpulua_to_bfloat16((double)x);
  return gpulua_to_bfloat16((double)(x >> 11 | ((x & 2047) != 0)) * 2048.0);
}
__device__ inline gpulua_bfloat16 gpulua_to_bfloat16(unsigned long long x) {
  if (x >> 53 == 0) return gpulua_to_bfloat16((double)x);
  return gpulua_to_bfloat16((double)(x >> 11 | ((x & 2047) != 0)) * 2048.0);
}

// ---- integer limits --------------------------------------------------------------------------------------------------------

template <class T>
struct gpulua_limits {
  static constexpr bool is_signed = T(-1) < T(0);
  static constexpr int digits = 8 * sizeof(T) - is_signed;
  static constexpr T max = T(((1ull << (digits - 1)) - 1) * 2 + 1);
  static constexpr T min = is_signed ? T(-max - 1) : T(0);
};

// ---- conversion: one struct for each kind of target, overloaded on the source ------------------------------------------------

template <class To>
struct gpulua_convert {  // integers
  template <class Integer>
  __device__ static To from(Integer x) {
    return (To)x;
  }
  template <class Real>
  __device__ static To saturate(Real x) {
    // 2^digits is exact in every floating type; the limits themselves may not be.
    constexpr Real end = (Real)(1ull << (gpulua_limits<To>::digits - 1)) * 2;
    if (x >= end) return gpulua_limits<To>::max;
    if (x <= -end || (!gpulua_limits<To>::is_signed && x <= 0)) return gpulua_limits<To>::min;
    return x == x ? (To)x : To(0);
  }
  __device__ static To from(float x) { return saturate(x); }
  __device__ static To from(double x) { return saturate(x); }
  __device__ static To from(gpulua_half x) { return saturate(gpulua_widen(x)); }
  __device__ static To from(gpulua_bfloat16 x) { return saturate(gpulua_widen(x)); }
  __device__ static To from(gpulua_complex<float> x) { return saturate(x.re); }
  __device__ static To from(gpulua_complex<double> x) { return saturate(x.re); }
};

template <>
struct gpulua_convert<bool> {
  template <class Number>
  __device__ static bool from(Number x) {
    return x != Number(0);
  }
  __device__ static bool from(gpulua_half x) { return gpulua_widen(x) != 0; }
  __device__ static bool from(gpulua_bfloat16 x) { return gpulua_widen(x) != 0; }
  __device__ static bool from(gpulua_complex<float> x) { return x.re != 0 || x.im != 0; }
  __device__ static bool from(gpulua_complex<double> x) { return x.re != 0 || x.im != 0; }
};

template <class Real>
struct gpulua_convert_real {
  template <class Number>
  __device__ static Real from(Number x) {
    return (Real)x;
  }
  __device__ static Real from(gpulua_half x) { return gpulua_widen(x); }
  __device__ static Real from(gpulua_bfloat16 x) { return gpulua_widen(x); }
  __device__ static Real from(gpulua_complex<float> x) { return (Real)x.re; }
  __device__ static Real from(gpulua_complex<double> x) { return (Real)x.re; }
};
template <>
struct gpulua_convert<float> : gpulua_convert_real<float> {};
template <>
struct gpulua_convert<double> : gpulua_convert_real<double> {};

template <>
struct gpulua_convert<gpulua_half> {
  template <class Number>
  __device__ static gpulua_half from(Number x) {
    return gpulua_to_half(gpulua_convert<float>::from(x));
  }
  __device__ static gpulua_half from(double x) { return gpulua_to_half(x); }
  __device__ static gpulua_half from(gpulua_complex<double> x) { return gpulua_to_half(x.re); }
  __device__ static gpulua_half from(gpulua_half x) { return x; }
};

template <>
struct gpulua_convert<gpulua_bfloat16> {
  template <class Number>
  __device__ static gpulua_bfloat16 from(Number x) {
    return gpulua_to_bfloat16(gpulua_convert<float>::from(x));
  }
  __device__ static gpulua_bfloat16 from(int x) { return gpulua_to_bfloat16(x); }
  __device__ static gpulua_bfloat16 from(unsigned int x) { return gpulua_to_bfloat16(x); }
  __device__ static gpulua_bfloat16 from(long long x) { return gpulua_to_bfloat16(x); }
  __device__ static gpulua_bfloat16 from(unsigned long long x) { return gpulua_to_bfloat16(x); }
  __device__ static gpulua_bfloat16 from(double x) { return gpulua_to_bfloat16(x); }
  __device__ static gpulua_bfloat16 from(gpulua_complex<double> x) { return gpulua_to_bfloat16(x.re); }
  __device__ static gpulua_bfloat16 from(gpulua_bfloat16 x) { return x; }
};

template <>
struct gpulua_convert<gpulua_complex<float>> {
  template <class Number>
  __device__ static gpulua_complex<float> from(Number x) {
    return {gpulua_convert<float>::from(x), 0};
  }
  __device__ static gpulua_complex<float> from(gpulua_complex<float> x) { return x; }
  __device__ static gpulua_complex<float> from(gpulua_complex<double> x) { return {(float)x.re, (float)x.im}; }
};

template <>
struct gpulua_convert<gpulua_complex<double>> {
  template <class Number>
  __device__ static gpulua_complex<double> from(Number x) {
    return {gpulua_convert<double>::from(x), 0};
  }
  __device__ static gpulua_complex<double> from(gpulua_complex<float> x) { return {x.re, x.im}; }
  __device__ static gpulua_complex<double> from(gpulua_complex<double> x) { return x; }
};

