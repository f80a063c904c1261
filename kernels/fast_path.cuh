// Quotients and roots of numbers of in_range size, rounded to nearest, without a branch to the special cases: a thread that
// computes many goes on undisturbed. What is not sure to be right clears `in_range`: operands and results that are zero, not
// finite, or so small or large that a step on the way would be; the caller then computes all anew by /, and sqrt.
// The steps are Newton's, on an approximation by the hardware, and end with one that rounds right because the remainder is
// exact: P. Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor", IBM J. Res. Dev. 34, 1990.

#ifdef GPULUA_CPU
// Approximations as far off as a GPU's may be, which has the kernels of a GPU tested on the processor.
__device__ inline float gpulua_inexact(float x) {
  return fabs(x) < 0x1p-126f ? copysign(0.0f, x) : __int_as_float(__float_as_int(x) & ~1);
}
__device__ inline double gpulua_upper_half(double x) {
  return fabs(x) < 0x1p-1022 ? copysign(0.0, x) : __hiloint2double(__double2hiint(x), 0);
}
__device__ inline float gpulua_near_reciprocal(float x) { return gpulua_inexact(1 / x); }
__device__ inline double gpulua_near_reciprocal(double x) { return gpulua_upper_half(1 / gpulua_upper_half(x)); }
__device__ inline float gpulua_near_inverse_root(float x) { return gpulua_inexact(1 / sqrt(x)); }
#else
__device__ inline float gpulua_near_reciprocal(float x) {
  float near;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(near) : "f"(x));
  return near;
}
__device__ inline double gpulua_near_reciprocal(double x) {
  double near;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(near) : "d"(x));
  return near;
}
__device__ inline float gpulua_near_inverse_root(float x) {
  float near;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(near) : "f"(x));
  return near;
}
#endif

__device__ inline float gpulua_fast_reciprocal(float x, bool& in_range) {
  const float near = gpulua_near_reciprocal(x);
  const float error = fma(-x, near, 1.0f);
  in_range &= fabs(error) < 0x1p-20f;  // false for NaN too
  return fma(near, error, near);
}

__device__ inline double gpulua_fast_reciprocal(double x, bool& in_range) {
  double near = gpulua_near_reciprocal(x);
  double error = fma(-x, near, 1.0);
  near = fma(near, fma(error, error, error), near);
  error = fma(-x, near, 1.0);
  in_range &= fabs(error) < 0x1p-40;
  return fma(near, error, near);
}

// A bad divisor makes the quotient zero or not a number.
template <class R>
__device__ inline R gpulua_fast_divide(R x, R y, bool& in_range) {
  bool unasked = true;
  const R least = sizeof(R) == 4 ? R(0x1p-100) : R(0x1p-900);
  const R reciprocal = gpulua_fast_reciprocal(y, unasked), near = x * reciprocal;
  const R quotient = fma(fma(-y, near, x), reciprocal, near);
  in_range &= fabs(x) >= least;
  in_range &= fabs(quotient) >= least;
  return quotient;
}

__device__ inline float gpulua_fast_sqrt(float x, bool& in_range) {
  const float inverse = gpulua_near_inverse_root(x);
  const float near = x * inverse;
  const float root = fma(fma(-near, near, x), 0.5f * inverse, near);
  in_range &= root >= 0x1p-50f;
  return root;
}

// Not replaced: without the branch, a thread of a long kernel needs so many registers that fewer threads are resident.
__device__ inline double gpulua_fast_sqrt(double x, bool&) { return sqrt(x); }
