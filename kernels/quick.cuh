// Quotients and roots of numbers of ordinary size, rounded to nearest, without a branch to the special cases: a thread that
// computes many goes on undisturbed. What is not sure to be right clears `ordinary`: operands and results that are zero, not
// finite, or so small or large that a step on the way would be; the caller then computes all anew by /, and sqrt.
// The steps are Newton's, on an approximation by the hardware, and end with one that rounds right because the remainder is
// exact: P. Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor", IBM J. Res. Dev. 34, 1990.

__device__ inline float gpulua_quick_reciprocal(float x, bool& ordinary) {
  float near;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(near) : "f"(x));
  const float error = __fmaf_rn(-x, near, 1.0f);
  ordinary &= fabsf(error) < 0x1p-20f;  // false for what is not a number, too
  return __fmaf_rn(near, error, near);
}

__device__ inline double gpulua_quick_reciprocal(double x, bool& ordinary) {
  double near;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(near) : "d"(x));
  double error = __fma_rn(-x, near, 1.0);
  near = __fma_rn(near, __fma_rn(error, error, error), near);
  error = __fma_rn(-x, near, 1.0);
  ordinary &= fabs(error) < 0x1p-40;
  return __fma_rn(near, error, near);
}

// A bad divisor makes the quotient zero or not a number.
__device__ inline float gpulua_quick_divide(float x, float y, bool& ordinary) {
  bool unasked = true;
  const float reciprocal = gpulua_quick_reciprocal(y, unasked);
  const float near = __fmul_rn(x, reciprocal);
  const float quotient = __fmaf_rn(__fmaf_rn(-y, near, x), reciprocal, near);
  ordinary &= fabsf(x) >= 0x1p-100f;
  ordinary &= fabsf(quotient) >= 0x1p-100f;
  return quotient;
}

__device__ inline double gpulua_quick_divide(double x, double y, bool& ordinary) {
  bool unasked = true;
  const double reciprocal = gpulua_quick_reciprocal(y, unasked);
  const double near = __dmul_rn(x, reciprocal);
  const double quotient = __fma_rn(__fma_rn(-y, near, x), reciprocal, near);
  ordinary &= fabs(x) >= 0x1p-900;
  ordinary &= fabs(quotient) >= 0x1p-900;
  return quotient;
}

__device__ inline float gpulua_quick_sqrt(float x, bool& ordinary) {
  float inverse;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x));
  const float near = __fmul_rn(x, inverse);
  const float root = __fmaf_rn(__fmaf_rn(-near, near, x), __fmul_rn(inverse, 0.5f), near);
  ordinary &= root >= 0x1p-50f;
  return root;
}

// As it is: without its branch, a thread of a long kernel keeps so many numbers at once that fewer threads have room.
__device__ inline double gpulua_quick_sqrt(double x, bool&) { return sqrt(x); }
