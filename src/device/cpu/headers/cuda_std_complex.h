// cuda::std::complex, which is thrust's here.
#ifndef GPULUA_CUDA_STD_COMPLEX
#define GPULUA_CUDA_STD_COMPLEX
#include "cuda/std/utility"
#include "thrust/complex.h"
namespace cuda {
namespace std {
using ::thrust::complex;
using ::thrust::arg;
using ::thrust::conj;
using ::thrust::norm;
using ::thrust::polar;
using ::thrust::proj;
// A using-declaration hides the same name of numbers, so both are declared.
#define GPULUA_BOTH(name) \
  using ::thrust::name;   \
  using ::std::name;
GPULUA_BOTH(abs)
GPULUA_BOTH(acos)
GPULUA_BOTH(acosh)
GPULUA_BOTH(asin)
GPULUA_BOTH(asinh)
GPULUA_BOTH(atan)
GPULUA_BOTH(atanh)
GPULUA_BOTH(cos)
GPULUA_BOTH(cosh)
GPULUA_BOTH(exp)
GPULUA_BOTH(log)
GPULUA_BOTH(log10)
GPULUA_BOTH(pow)
GPULUA_BOTH(sin)
GPULUA_BOTH(sinh)
GPULUA_BOTH(sqrt)
GPULUA_BOTH(tan)
GPULUA_BOTH(tanh)
#undef GPULUA_BOTH
}  // namespace std
}  // namespace cuda
#endif
