#ifndef GPULUA_CURAND_KERNEL_H
#define GPULUA_CURAND_KERNEL_H
// cuRAND's device functions: the distributions of its generators' numbers.
#include "gpulua_generators.h"
#pragma clang force_cuda_host_device begin

// ---- uniform in (0, 1] -----------------------------------------------------------------------------------------------------------

inline float gpulua_uniform(unsigned int x) { return fmaf((float)x, 0x1p-32f, 0x1p-33f); }
inline double gpulua_uniform_double(unsigned int x, unsigned int y) {
  return (double)(x ^ (unsigned long long)y << 21) * 0x1p-53 + 0x1p-54;
}
template <class State>
inline float curand_uniform(State* state) {
  return gpulua_uniform(curand(state));
}
inline double curand_uniform_double(curandStateXORWOW* state) {
  unsigned int x = curand(state), y = curand(state);
  return gpulua_uniform_double(x, y);
}
inline double curand_uniform_double(curandStatePhilox4_32_10* state) { return curand(state) * 0x1p-32 + 0x1p-32; }
inline double curand_uniform_double(curandStateMRG32k3a* state) {
  return gpulua_combined(state) * (1.0 / 4294967087.0);
}
inline float curand_uniform(curandStateMRG32k3a* state) { return (float)curand_uniform_double(state); }

inline float4 curand_uniform4(curandStatePhilox4_32_10* state) {
  uint4 v = curand4(state);
  return {gpulua_uniform(v.x), gpulua_uniform(v.y), gpulua_uniform(v.z), gpulua_uniform(v.w)};
}
inline double2 curand_uniform2_double(curandStatePhilox4_32_10* state) {
  uint4 v = curand4(state);
  return {gpulua_uniform_double(v.x, v.y), gpulua_uniform_double(v.z, v.w)};
}
inline double4 curand_uniform4_double(curandStatePhilox4_32_10* state) {
  double2 a = curand_uniform2_double(state), b = curand_uniform2_double(state);
  return {a.x, a.y, b.x, b.y};
}

// ---- normal by Box and Muller: the sine first ------------------------------------------------------------------------------------

/// Two numbers from one for the radius in (0, 1] and an angle.
inline float2 gpulua_box_muller(float uniform, float angle) {
  float radius = sqrtf(-2.0f * logf(uniform));
  return {radius * sinf(angle), radius * cosf(angle)};
}
inline double2 gpulua_box_muller(double uniform, double half_turns) {
  double radius = sqrt(-2.0 * log(uniform)), s, c;
  sincospi(half_turns, &s, &c);
  return {radius * s, radius * c};
}
inline float2 gpulua_normal_pair(unsigned int x, unsigned int y) {
  return gpulua_box_muller(gpulua_uniform(x), fmaf((float)y, 0x1p-32f * 6.2831855f, 0x1p-33f * 6.2831855f));
}
template <class State>
inline float2 curand_normal2(State* state) {
  unsigned int x = curand(state), y = curand(state);
  return gpulua_normal_pair(x, y);
}
inline float2 curand_normal2(curandStateMRG32k3a* state) {
  float x = curand_uniform(state), y = curand_uniform(state);
  return gpulua_box_muller(x, y * 6.2831855f);
}
inline float4 curand_normal4(curandStatePhilox4_32_10* state) {
  uint4 v = curand4(state);
  float2 a = gpulua_normal_pair(v.x, v.y), b = gpulua_normal_pair(v.z, v.w);
  return {a.x, a.y, b.x, b.y};
}
inline uint4 gpulua_four(curandStatePhilox4_32_10* state) { return curand4(state); }
inline uint4 gpulua_four(curandStateXORWOW* state) {
  unsigned int x = curand(state), y = curand(state), z = curand(state), w = curand(state);
  return {x, y, z, w};
}
template <class State>
inline double2 curand_normal2_double(State* state) {
  uint4 v = gpulua_four(state);
  return gpulua_box_muller(gpulua_uniform_double(v.x, v.y), 2.0 * gpulua_uniform_double(v.z, v.w));
}
inline double2 curand_normal2_double(curandStateMRG32k3a* state) {
  double x = curand_uniform_double(state), y = curand_uniform_double(state);
  return gpulua_box_muller(x, 2.0 * y);
}
inline double4 curand_normal4_double(curandStatePhilox4_32_10* state) {
  double2 a = curand_normal2_double(state), b = curand_normal2_double(state);
  return {a.x, a.y, b.x, b.y};
}
template <class State>
inline float2 curand_log_normal2(State* state, float mean, float deviation) {
  float2 v = curand_normal2(state);
  return {expf(mean + deviation * v.x), expf(mean + deviation * v.y)};
}
inline float4 curand_log_normal4(curandStatePhilox4_32_10* state, float mean, float deviation) {
  float4 v = curand_normal4(state);
  return {expf(mean + deviation * v.x), expf(mean + deviation * v.y), expf(mean + deviation * v.z), expf(mean + deviation * v.w)};
}
template <class State>
inline double2 curand_log_normal2_double(State* state, double mean, double deviation) {
  double2 v = curand_normal2_double(state);
  return {exp(mean + deviation * v.x), exp(mean + deviation * v.y)};
}
inline double4 curand_log_normal4_double(curandStatePhilox4_32_10* state, double mean, double deviation) {
  double2 a = curand_log_normal2_double(state, mean, deviation), b = curand_log_normal2_double(state, mean, deviation);
  return {a.x, a.y, b.x, b.y};
}

/// The number that was left of a pair of this kind, or the first of a new pair, of which the second is left then.
template <class Number, class Draw>
inline Number gpulua_next(gpulua_rest_kind& left, gpulua_rest_kind wanted, Number& rest, Draw draw) {
  bool found = left == wanted;
  left = found ? gpulua_no_rest : wanted;
  if (found) return rest;
  auto pair = draw();
  rest = pair.y;
  return pair.x;
}
template <class State>
inline float curand_normal(State* state) {
  gpulua_rest& rest = state->rest;
  return gpulua_next(rest.kind, gpulua_normal_rest, rest.number, [&] { return curand_normal2(state); });
}
template <class State>
inline double curand_normal_double(State* state) {
  gpulua_rest& rest = state->rest;
  return gpulua_next(rest.wide_kind, gpulua_normal_rest, rest.wide_number, [&] { return curand_normal2_double(state); });
}
template <class State>
inline float curand_log_normal(State* state, float mean, float deviation) {
  gpulua_rest& rest = state->rest;
  return gpulua_next(rest.kind, gpulua_log_normal_rest, rest.number,
                     [&] { return curand_log_normal2(state, mean, deviation); });
}
template <class State>
inline double curand_log_normal_double(State* state, double mean, double deviation) {
  gpulua_rest& rest = state->rest;
  return gpulua_next(rest.wide_kind, gpulua_log_normal_rest, rest.wide_number,
                     [&] { return curand_log_normal2_double(state, mean, deviation); });
}

// ---- Poisson -------------------------------------------------------------------------------------------------------------------

/// For large means: the normal number, moved and rounded.
inline unsigned int gpulua_rounded(double mean, double normal) { return (unsigned int)(sqrt(mean) * normal + mean + 0.5); }

/// For means between: candidates from a closed approximation to the distribution, of which the true one accepts some. The
/// approximation is cuRAND's, 1 / (1 + exp(slope (mean - x) - shift))^2.
template <class State>
inline unsigned int gpulua_poisson_by_rejection(State* state, float mean) {
  float slope = 1.43248035f / sqrtf(mean - 0.12400979f) + 0.00025361f;
  float shift = 0.21096735f / sqrtf(mean - 1.97381164f) + 0.94201734f;
  float logarithm = logf(mean);
  auto below = [&](float x) {
    float odds = 1.0f + expf(slope * (mean - x) - shift);
    return 1.0f / (odds * odds);
  };
  for (;;) {
    float uniform = curand_uniform(state);
    float x = floorf(mean - (shift + logf(1.0f / sqrtf(uniform) - 1.0f)) / slope);
    float chance = (below(x + 1.0f) - below(x)) * 1.3f;
    float sample = curand_uniform(state) * chance;
    float truth = expf(x * logarithm - mean - (float)lgamma((double)x + 1.0));
    if (sample < truth && chance >= 1e-20f) return (unsigned int)x;
  }
}
/// For small means: how many uniform numbers may be multiplied (Knuth, "The Art of Computer Programming", 3.4.1).
template <class State>
inline unsigned int curand_poisson(State* state, double mean) {
  if (mean > 4000.0) return gpulua_rounded(mean, curand_normal_double(state));
  if (mean >= 64.0) return gpulua_poisson_by_rejection(state, (float)mean);
  float product = expf((float)mean);
  for (unsigned int count = 0;; ++count)
    if (!((product *= curand_uniform(state)) > 1.0f)) return count;
}
inline uint4 curand_poisson4(curandStatePhilox4_32_10* state, double mean) {
  if (mean > 4000.0) {
    double4 v = curand_normal4_double(state);
    return {gpulua_rounded(mean, v.x), gpulua_rounded(mean, v.y), gpulua_rounded(mean, v.z), gpulua_rounded(mean, v.w)};
  }
  uint4 v = {0, 0, 0, 0};
  for (int i = 0; i < 4; ++i) v = {v.y, v.z, v.w, curand_poisson(state, mean)};
  return v;
}

#pragma clang force_cuda_host_device end
#endif
