#ifndef GPULUA_CUCOMPLEX_H
#define GPULUA_CUCOMPLEX_H
// Complex numbers as C has them in CUDA: float2 and double2.
#pragma clang force_cuda_host_device begin
typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

// `f` ends the names of float's functions. A quotient and a length are taken of numbers scaled so that no square overflows.
#define GPULUA_COMPLEX(type, complex, word, f)                                                                                \
  inline complex make_##word(type re, type im) { return {re, im}; }                                                           \
  inline type cuCreal##f(complex x) { return x.x; }                                                                           \
  inline type cuCimag##f(complex x) { return x.y; }                                                                           \
  inline complex cuConj##f(complex x) { return {x.x, -x.y}; }                                                                 \
  inline complex cuCadd##f(complex x, complex y) { return {x.x + y.x, x.y + y.y}; }                                           \
  inline complex cuCsub##f(complex x, complex y) { return {x.x - y.x, x.y - y.y}; }                                           \
  inline complex cuCmul##f(complex x, complex y) { return {x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x}; }                   \
  inline complex cuCfma##f(complex x, complex y, complex z) { return cuCadd##f(cuCmul##f(x, y), z); }                         \
  inline complex cuCdiv##f(complex x, complex y) {                                                                            \
    const type scale = 1 / (fabs(y.x) + fabs(y.y));                                                                           \
    const complex a = {x.x * scale, x.y * scale}, b = {y.x * scale, y.y * scale};                                             \
    const type square = 1 / (b.x * b.x + b.y * b.y);                                                                          \
    return {(a.x * b.x + a.y * b.y) * square, (a.y * b.x - a.x * b.y) * square};                                              \
  }                                                                                                                           \
  inline type cuCabs##f(complex x) { return hypot(x.x, x.y); }
GPULUA_COMPLEX(float, cuFloatComplex, cuFloatComplex, f)
GPULUA_COMPLEX(double, cuDoubleComplex, cuDoubleComplex, )
#undef GPULUA_COMPLEX
inline cuComplex make_cuComplex(float re, float im) { return {re, im}; }
inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex x) { return {x.x, x.y}; }
inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex x) { return {(float)x.x, (float)x.y}; }
#pragma clang force_cuda_host_device end
#endif
