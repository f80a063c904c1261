// thrust::complex. Its functions are those of the library's own complex numbers, complex.cuh: with C's branch cuts, and its
// values at infinities, NaN and zeros of both signs.
#ifndef GPULUA_THRUST_COMPLEX
#define GPULUA_THRUST_COMPLEX
#include "gpulua/cmath"
#include "gpulua/type_traits"
namespace gpulua_thrust {
// complex.cuh calls functions of numbers by the names that it gives to functions of complex numbers.
using ::acos; using ::acosh; using ::asin; using ::asinh; using ::atan; using ::atanh; using ::cos; using ::cosh; using ::exp;
using ::exp2; using ::expm1; using ::fabs; using ::fmax; using ::fmin; using ::isfinite; using ::isinf; using ::log;
using ::log10; using ::log1p; using ::log2; using ::pow; using ::rint; using ::sin; using ::sinh; using ::sqrt; using ::tan;
using ::tanh;
template <class _Tp>
struct gpulua_complex {
  _Tp re, im;
  __host__ __device__ gpulua_complex(_Tp a = 0, _Tp b = 0) : re(a), im(b) {}
};
#include "gpulua/complex.cuh"

/// `type`: of the sum of numbers of these types, and nothing for other types.
template <class _Tp, class _Up, bool numbers = std::is_arithmetic<_Tp>::value && std::is_arithmetic<_Up>::value>
struct sum {};
template <class _Tp, class _Up>
struct sum<_Tp, _Up, true> {
  using type = decltype(_Tp() + _Up());
};
}  // namespace gpulua_thrust

namespace thrust {
template <class _Tp>
class alignas(2 * sizeof(_Tp)) complex {
  _Tp re_, im_;

 public:
  using value_type = _Tp;
  complex() = default;
  complex(const complex&) = default;
  complex& operator=(const complex&) = default;
  __host__ __device__ constexpr complex(const _Tp& re) : re_(re), im_() {}
  template <class _Rp, class _Ip, class = std::enable_if_t<std::is_convertible<_Rp, _Tp>::value && std::is_convertible<_Ip, _Tp>::value>>
  __host__ __device__ constexpr complex(const _Rp& re, const _Ip& im) : re_(static_cast<_Tp>(re)), im_(static_cast<_Tp>(im)) {}
  template <class _Up, class = std::enable_if_t<std::is_convertible<_Up, _Tp>::value>>
  __host__ __device__ constexpr complex(const complex<_Up>& z)
      : re_(static_cast<_Tp>(z.real())), im_(static_cast<_Tp>(z.imag())) {}
  __host__ __device__ complex(const gpulua_thrust::gpulua_complex<_Tp>& z) : re_(z.re), im_(z.im) {}
  __host__ __device__ explicit operator gpulua_thrust::gpulua_complex<_Tp>() const {
    return gpulua_thrust::gpulua_complex<_Tp>(re_, im_);
  }

  __host__ __device__ constexpr _Tp real() const { return re_; }
  __host__ __device__ constexpr _Tp imag() const { return im_; }
  __host__ __device__ _Tp real() const volatile { return re_; }
  __host__ __device__ _Tp imag() const volatile { return im_; }
  __host__ __device__ void real(_Tp re) { re_ = re; }
  __host__ __device__ void imag(_Tp im) { im_ = im; }
  __host__ __device__ void real(_Tp re) volatile { re_ = re; }
  __host__ __device__ void imag(_Tp im) volatile { im_ = im; }

  __host__ __device__ complex& operator=(const _Tp& re) { return *this = complex(re); }
  template <class _Up>
  __host__ __device__ complex& operator=(const complex<_Up>& z) {
    return *this = complex(z);
  }
  template <class _Up>
  __host__ __device__ complex& operator+=(const _Up& z) {
    return *this = *this + z;
  }
  template <class _Up>
  __host__ __device__ complex& operator-=(const _Up& z) {
    return *this = *this - z;
  }
  template <class _Up>
  __host__ __device__ complex& operator*=(const _Up& z) {
    return *this = *this * z;
  }
  template <class _Up>
  __host__ __device__ complex& operator/=(const _Up& z) {
    return *this = *this / z;
  }
};

// A function of two complex numbers, or of one and a number: of the type that holds both, as a sum of their parts has it.
// `_Zp` stands for complex<that type>, and `_Cp` for the one of complex.cuh.
#define GPULUA_COMPLEX(result, name, both, with_number, number_with)                                     \
  template <class _Tp, class _Up, class _Sp = typename gpulua_thrust::sum<_Tp, _Up>::type>               \
  __host__ __device__ inline result name(const complex<_Tp>& x, const complex<_Up>& y) {                 \
    using _Zp = complex<_Sp>;                                                                            \
    using _Cp = gpulua_thrust::gpulua_complex<_Sp>;                                                      \
    return both;                                                                                         \
  }                                                                                                      \
  template <class _Tp, class _Up, class _Sp = typename gpulua_thrust::sum<_Tp, _Up>::type>               \
  __host__ __device__ inline result name(const complex<_Tp>& x, const _Up& y) {                          \
    using _Zp = complex<_Sp>;                                                                            \
    return with_number;                                                                                  \
  }                                                                                                      \
  template <class _Tp, class _Up, class _Sp = typename gpulua_thrust::sum<_Tp, _Up>::type>               \
  __host__ __device__ inline result name(const _Tp& x, const complex<_Up>& y) {                          \
    using _Zp = complex<_Sp>;                                                                            \
    return number_with;                                                                                  \
  }
GPULUA_COMPLEX(complex<_Sp>, operator+, _Zp(_Sp(x.real()) + _Sp(y.real()), _Sp(x.imag()) + _Sp(y.imag())),
               _Zp(_Sp(x.real()) + _Sp(y), x.imag()), _Zp(_Sp(x) + _Sp(y.real()), y.imag()))
GPULUA_COMPLEX(complex<_Sp>, operator-, _Zp(_Sp(x.real()) - _Sp(y.real()), _Sp(x.imag()) - _Sp(y.imag())),
               _Zp(_Sp(x.real()) - _Sp(y), x.imag()), _Zp(_Sp(x) - _Sp(y.real()), -y.imag()))
GPULUA_COMPLEX(complex<_Sp>, operator*, gpulua_thrust::operator*(_Cp(_Zp(x)), _Cp(_Zp(y))),
               _Zp(_Sp(x.real()) * _Sp(y), _Sp(x.imag()) * _Sp(y)), _Zp(_Sp(x) * _Sp(y.real()), _Sp(x) * _Sp(y.imag())))
GPULUA_COMPLEX(complex<_Sp>, operator/, gpulua_thrust::operator/(_Cp(_Zp(x)), _Cp(_Zp(y))),
               _Zp(_Sp(x.real()) / _Sp(y), _Sp(x.imag()) / _Sp(y)), _Zp(_Sp(x)) / _Zp(y))
GPULUA_COMPLEX(complex<_Sp>, pow, gpulua_thrust::pow(_Cp(_Zp(x)), _Cp(_Zp(y))),
               pow(_Zp(x), _Zp(_Sp(y))), pow(_Zp(_Sp(x)), _Zp(y)))
GPULUA_COMPLEX(bool, operator==, _Zp(x).real() == _Zp(y).real() && _Zp(x).imag() == _Zp(y).imag(),
               _Zp(x) == _Zp(_Sp(y)), _Zp(_Sp(x)) == _Zp(y))
GPULUA_COMPLEX(bool, operator!=, !(x == y), !(x == y), !(x == y))
#undef GPULUA_COMPLEX

template <class _Tp>
__host__ __device__ inline complex<_Tp> operator+(const complex<_Tp>& z) {
  return z;
}
template <class _Tp>
__host__ __device__ inline complex<_Tp> operator-(const complex<_Tp>& z) {
  return complex<_Tp>(-z.real(), -z.imag());
}
template <class _Tp>
__host__ __device__ inline _Tp abs(const complex<_Tp>& z) {
  return ::hypot(z.real(), z.imag());
}
template <class _Tp>
__host__ __device__ inline _Tp arg(const complex<_Tp>& z) {
  return ::atan2(z.imag(), z.real());
}
template <class _Tp>
__host__ __device__ inline _Tp norm(const complex<_Tp>& z) {
  return z.real() * z.real() + z.imag() * z.imag();
}
template <class _Tp>
__host__ __device__ inline complex<_Tp> conj(const complex<_Tp>& z) {
  return complex<_Tp>(z.real(), -z.imag());
}
template <class _Tp, class _Up = _Tp, class _Sp = typename gpulua_thrust::sum<_Tp, _Up>::type>
__host__ __device__ inline complex<_Sp> polar(const _Tp& size, const _Up& angle = _Up()) {
  return complex<_Sp>(_Sp(size) * ::cos(_Sp(angle)), _Sp(size) * ::sin(_Sp(angle)));
}
/// The point of Riemann's sphere: all infinities are one.
template <class _Tp>
__host__ __device__ inline complex<_Tp> proj(const complex<_Tp>& z) {
  if (!::isinf(z.real()) && !::isinf(z.imag())) return z;
  return complex<_Tp>(static_cast<_Tp>(HUGE_VAL), ::copysign(_Tp(0), z.imag()));
}

#define GPULUA_COMPLEX(name)                                                          \
  template <class _Tp>                                                                \
  __host__ __device__ inline complex<_Tp> name(const complex<_Tp>& z) {               \
    return gpulua_thrust::name(static_cast<gpulua_thrust::gpulua_complex<_Tp>>(z));   \
  }
GPULUA_COMPLEX(exp) GPULUA_COMPLEX(log) GPULUA_COMPLEX(log10) GPULUA_COMPLEX(sqrt) GPULUA_COMPLEX(sin) GPULUA_COMPLEX(cos)
GPULUA_COMPLEX(tan) GPULUA_COMPLEX(sinh) GPULUA_COMPLEX(cosh) GPULUA_COMPLEX(tanh) GPULUA_COMPLEX(asin)
GPULUA_COMPLEX(acos) GPULUA_COMPLEX(atan) GPULUA_COMPLEX(asinh) GPULUA_COMPLEX(acosh) GPULUA_COMPLEX(atanh)
#undef GPULUA_COMPLEX
}  // namespace thrust
#endif
