// Complex elements in the code of scripts: arithmetic with numbers of every type, which become parts of the element's type, and
// the functions that C++ has for complex numbers. What complex.cuh has is there as well.

using gpulua_complex_element64 = gpulua_complex64;
using gpulua_complex_element128 = gpulua_complex128;

// `type`: R, for a number of type S beside complex numbers with parts of type R.
template <class S, class R>
struct gpulua_part {};
#define GPULUA_NUMBER(S)     \
  template <class R>         \
  struct gpulua_part<S, R> { \
    using type = R;          \
  };
GPULUA_NUMBER(bool)
GPULUA_NUMBER(char)
GPULUA_NUMBER(signed char)
GPULUA_NUMBER(unsigned char)
GPULUA_NUMBER(short)
GPULUA_NUMBER(unsigned short)
GPULUA_NUMBER(int)
GPULUA_NUMBER(unsigned int)
GPULUA_NUMBER(long)
GPULUA_NUMBER(unsigned long)
GPULUA_NUMBER(long long)
GPULUA_NUMBER(unsigned long long)
GPULUA_NUMBER(float)
GPULUA_NUMBER(double)
#undef GPULUA_NUMBER

#define GPULUA_WITH_NUMBERS(Result, op)                                                                             \
  template <class R, class S, class Part = typename gpulua_part<S, R>::type>                                        \
  __device__ inline Result operator op(gpulua_complex<R> x, S y) {                                                  \
    return x op gpulua_complex<R>((Part)y);                                                                         \
  }                                                                                                                 \
  template <class R, class S, class Part = typename gpulua_part<S, R>::type>                                        \
  __device__ inline Result operator op(S x, gpulua_complex<R> y) {                                                  \
    return gpulua_complex<R>((Part)x) op y;                                                                         \
  }
GPULUA_WITH_NUMBERS(gpulua_complex<R>, +)
GPULUA_WITH_NUMBERS(gpulua_complex<R>, -)
GPULUA_WITH_NUMBERS(gpulua_complex<R>, *)
GPULUA_WITH_NUMBERS(gpulua_complex<R>, /)
GPULUA_WITH_NUMBERS(bool, ==)
GPULUA_WITH_NUMBERS(bool, !=)
#undef GPULUA_WITH_NUMBERS

#define GPULUA_IN_PLACE(op)                                                                                         \
  template <class R, class S>                                                                                       \
  __device__ inline gpulua_complex<R>& operator op##=(gpulua_complex<R>& x, S y) {                                  \
    return x = x op y;                                                                                              \
  }
GPULUA_IN_PLACE(+)
GPULUA_IN_PLACE(-)
GPULUA_IN_PLACE(*)
GPULUA_IN_PLACE(/)
#undef GPULUA_IN_PLACE

template <class R, class S, class Part = typename gpulua_part<S, R>::type>
__device__ inline gpulua_complex<R> pow(gpulua_complex<R> x, S y) {
  return pow(x, gpulua_complex<R>((Part)y));
}
template <class R>
__device__ inline R abs(gpulua_complex<R> x) {
  return fabs(x);
}
template <class R>
__device__ inline R arg(gpulua_complex<R> x) {
  return gpulua_angle(x);
}
template <class R>
__device__ inline R norm(gpulua_complex<R> x) {
  return x.re * x.re + x.im * x.im;
}
template <class R>
__device__ inline R real(gpulua_complex<R> x) {
  return gpulua_real(x);
}
template <class R>
__device__ inline R imag(gpulua_complex<R> x) {
  return gpulua_imag(x);
}
template <class R>
__device__ inline gpulua_complex<R> conj(gpulua_complex<R> x) {
  return gpulua_conj(x);
}
template <class R>
__device__ inline bool isnan(gpulua_complex<R> x) {
  return x != x;
}
