#ifndef GPULUA_CURAND_KERNEL_H
#define GPULUA_CURAND_KERNEL_H
// cuRAND's device generators: XORWOW (Marsaglia, "Xorshift RNGs", 2003) and Philox4x32-10 (Salmon et al., "Parallel random
// numbers: as easy as 1, 2, 3", 2011), with the numbers that cuRAND gives for the same seed, sequence and offset.
#include "gpulua_xorwow_jumps.h"
#pragma clang force_cuda_host_device begin

typedef enum curandStatus { CURAND_STATUS_SUCCESS = 0 } curandStatus_t;

/// What the normal distribution has made and not yet given: the numbers come in pairs.
struct gpulua_normal_rest {
  bool has_float, has_double;
  float number;
  double wide_number;
};
struct curandStateXORWOW {
  unsigned int counter;   // a Weyl sequence, added to
  unsigned int words[5];  // the shift register
  gpulua_normal_rest rest;
};
struct curandStatePhilox4_32_10 {
  uint4 counter, output;
  uint2 key;
  unsigned int used;  // numbers of `output` given so far
  gpulua_normal_rest rest;
};
typedef curandStateXORWOW curandStateXORWOW_t;
typedef curandStateXORWOW curandState_t;
typedef curandStateXORWOW curandState;
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

// ---- XORWOW ------------------------------------------------------------------------------------------------------------------

constexpr unsigned int gpulua_weyl_step = 362437;

inline unsigned int curand(curandStateXORWOW* state) {
  unsigned int* words = state->words;
  unsigned int first = words[0] ^ words[0] >> 2;
  words[0] = words[1], words[1] = words[2], words[2] = words[3], words[3] = words[4];
  words[4] = words[4] ^ words[4] << 4 ^ first ^ first << 1;
  state->counter += gpulua_weyl_step;
  return words[4] + state->counter;
}
/// Skips 2^(first) steps for bit 0 of `count`, twice as many for each further bit; the register alone.
inline void gpulua_skip_register(curandStateXORWOW* state, unsigned long long count, int first) {
  for (; count != 0; count >>= 1, ++first) {
    if (!(count & 1)) continue;
    unsigned int sum[5] = {0, 0, 0, 0, 0};
    for (int bit = 0; bit < 160; ++bit) {
      unsigned int keep = 0u - (gpulua_xorwow_jumps[first][bit >> 5] >> (bit & 31) & 1);
      for (int i = 0; i < 5; ++i) sum[i] ^= state->words[i] & keep;
      curand(state);
    }
    for (int i = 0; i < 5; ++i) state->words[i] = sum[i];
  }
}
inline void skipahead(unsigned long long count, curandStateXORWOW* state) {
  unsigned int counter = state->counter + (unsigned int)count * gpulua_weyl_step;
  gpulua_skip_register(state, count, 0);
  state->counter = counter;
}
/// Sequences are 2^67 numbers apart, a multiple of the Weyl sequence's period.
inline void skipahead_sequence(unsigned long long count, curandStateXORWOW* state) {
  unsigned int counter = state->counter;
  gpulua_skip_register(state, count, 67);
  state->counter = counter;
}
inline void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                        curandStateXORWOW* state) {
  unsigned int low = ((unsigned int)seed ^ 0xaad26b49u) * 1099087573u;
  unsigned int high = ((unsigned int)(seed >> 32) ^ 0xf7dcefddu) * 2591861531u;
  *state = {6615241u + high + low,
            {123456789u + low, 362436069u ^ low, 521288629u + high, 88675123u ^ high, 5783321u + low},
            {}};
  skipahead_sequence(sequence, state);
  skipahead(offset, state);
}

// ---- Philox4x32-10 -------------------------------------------------------------------------------------------------------------

inline uint4 curand_Philox4x32_10(uint4 counter, uint2 key) {
  for (int round = 0; round < 10; ++round) {
    unsigned long long first = 0xd2511f53ull * counter.x, second = 0xcd9e8d57ull * counter.z;
    counter = {(unsigned int)(second >> 32) ^ counter.y ^ key.x, (unsigned int)second,
               (unsigned int)(first >> 32) ^ counter.w ^ key.y, (unsigned int)first};
    key.x += 0x9e3779b9u, key.y += 0xbb67ae85u;
  }
  return counter;
}
inline void gpulua_advance(curandStatePhilox4_32_10* state, unsigned long long low, unsigned long long high) {
  uint4& c = state->counter;
  unsigned __int128 counter = (unsigned __int128)((unsigned long long)c.w << 32 | c.z) << 64 | ((unsigned long long)c.y << 32 | c.x);
  counter += (unsigned __int128)high << 64 | low;
  c = {(unsigned int)counter, (unsigned int)(counter >> 32), (unsigned int)(counter >> 64), (unsigned int)(counter >> 96)};
  state->output = curand_Philox4x32_10(c, state->key);
}
inline unsigned int gpulua_element(uint4 v, unsigned int i) { return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w; }

inline unsigned int curand(curandStatePhilox4_32_10* state) {
  unsigned int result = gpulua_element(state->output, state->used++);
  if (state->used == 4) {
    gpulua_advance(state, 1, 0);
    state->used = 0;
  }
  return result;
}
inline uint4 curand4(curandStatePhilox4_32_10* state) {
  uint4 now = state->output;
  gpulua_advance(state, 1, 0);
  uint4 next = state->output;
  switch (state->used) {
    case 1: return {now.y, now.z, now.w, next.x};
    case 2: return {now.z, now.w, next.x, next.y};
    case 3: return {now.w, next.x, next.y, next.z};
    default: return now;
  }
}
inline void skipahead(unsigned long long count, curandStatePhilox4_32_10* state) {
  unsigned long long places = state->used + (count & 3);
  state->used = (unsigned int)(places & 3);
  gpulua_advance(state, (count >> 2) + (places >> 2), 0);
}
inline void skipahead_sequence(unsigned long long count, curandStatePhilox4_32_10* state) { gpulua_advance(state, 0, count); }
inline void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                        curandStatePhilox4_32_10* state) {
  *state = {{0, 0, 0, 0}, {}, {(unsigned int)seed, (unsigned int)(seed >> 32)}, 0, {}};
  gpulua_advance(state, 0, sequence);
  skipahead(offset, state);
}

// ---- distributions: uniform in (0, 1], normal by Box and Muller -------------------------------------------------------------------

inline float gpulua_uniform(unsigned int x) { return fmaf((float)x, 0x1p-32f, 0x1p-33f); }
inline double gpulua_uniform_double(unsigned int x) { return x * 0x1p-32 + 0x1p-33; }
inline double gpulua_uniform_double(unsigned int x, unsigned int y) {
  return (double)(x ^ (unsigned long long)y << 21) * 0x1p-53 + 0x1p-54;
}
inline float2 gpulua_box_muller(unsigned int x, unsigned int y) {
  float radius = sqrtf(-2.0f * logf(gpulua_uniform(x)));
  float angle = fmaf((float)y, 0x1p-32f * 6.2831855f, 0x1p-33f * 6.2831855f);
  return {radius * sinf(angle), radius * cosf(angle)};
}
inline double2 gpulua_box_muller_double(uint4 v) {
  double radius = sqrt(-2.0 * log(gpulua_uniform_double(v.x, v.y)));
  double s, c;
  sincospi((double)(v.z ^ (unsigned long long)v.w << 21) * 0x1p-52 + 0x1p-53, &s, &c);
  return {radius * s, radius * c};
}
template <class State>
inline uint4 gpulua_four(State* state) {
  unsigned int x = curand(state), y = curand(state), z = curand(state), w = curand(state);
  return {x, y, z, w};
}

template <class State>
inline float curand_uniform(State* state) {
  return gpulua_uniform(curand(state));
}
inline double curand_uniform_double(curandStateXORWOW* state) {
  unsigned int x = curand(state), y = curand(state);
  return gpulua_uniform_double(x, y);
}
inline double curand_uniform_double(curandStatePhilox4_32_10* state) { return gpulua_uniform_double(curand(state)); }
inline float4 curand_uniform4(curandStatePhilox4_32_10* state) {
  uint4 v = curand4(state);
  return {gpulua_uniform(v.x), gpulua_uniform(v.y), gpulua_uniform(v.z), gpulua_uniform(v.w)};
}
inline double2 curand_uniform2_double(curandStatePhilox4_32_10* state) {
  uint4 v = curand4(state);
  return {gpulua_uniform_double(v.x, v.y), gpulua_uniform_double(v.z, v.w)};
}
inline double4 curand_uniform4_double(curandStatePhilox4_32_10* state) {
  uint4 a = curand4(state), b = curand4(state);
  return {gpulua_uniform_double(a.x, a.y), gpulua_uniform_double(a.z, a.w), gpulua_uniform_double(b.x, b.y),
          gpulua_uniform_double(b.z, b.w)};
}

template <class State>
inline float2 curand_normal2(State* state) {
  unsigned int x = curand(state), y = curand(state);
  return gpulua_box_muller(x, y);
}
template <class State>
inline float curand_normal(State* state) {
  gpulua_normal_rest& rest = state->rest;
  rest.has_float = !rest.has_float;
  if (!rest.has_float) return rest.number;
  float2 pair = curand_normal2(state);
  rest.number = pair.y;
  return pair.x;
}
inline float4 curand_normal4(curandStatePhilox4_32_10* state) {
  uint4 v = curand4(state);
  float2 a = gpulua_box_muller(v.x, v.y), b = gpulua_box_muller(v.z, v.w);
  return {a.x, a.y, b.x, b.y};
}
template <class State>
inline double2 curand_normal2_double(State* state) {
  return gpulua_box_muller_double(gpulua_four(state));
}
template <class State>
inline double curand_normal_double(State* state) {
  gpulua_normal_rest& rest = state->rest;
  rest.has_double = !rest.has_double;
  if (!rest.has_double) return rest.wide_number;
  double2 pair = curand_normal2_double(state);
  rest.wide_number = pair.y;
  return pair.x;
}
template <class State>
inline float curand_log_normal(State* state, float mean, float deviation) {
  return expf(mean + deviation * curand_normal(state));
}
template <class State>
inline float2 curand_log_normal2(State* state, float mean, float deviation) {
  float2 pair = curand_normal2(state);
  return {expf(mean + deviation * pair.x), expf(mean + deviation * pair.y)};
}
inline float4 curand_log_normal4(curandStatePhilox4_32_10* state, float mean, float deviation) {
  float4 v = curand_normal4(state);
  return {expf(mean + deviation * v.x), expf(mean + deviation * v.y), expf(mean + deviation * v.z), expf(mean + deviation * v.w)};
}
template <class State>
inline double curand_log_normal_double(State* state, double mean, double deviation) {
  return exp(mean + deviation * curand_normal_double(state));
}
template <class State>
inline double2 curand_log_normal2_double(State* state, double mean, double deviation) {
  double2 pair = curand_normal2_double(state);
  return {exp(mean + deviation * pair.x), exp(mean + deviation * pair.y)};
}

/// The Poisson distribution, but not cuRAND's numbers: products of uniforms for small means, a rounded normal for large ones.
template <class State>
inline unsigned int curand_poisson(State* state, double mean) {
  if (mean > 60.0) return (unsigned int)(fmax(0.0, floor(mean + sqrt(mean) * curand_normal_double(state) + 0.5)));
  double limit = exp(-mean), product = curand_uniform(state);
  unsigned int count = 0;
  for (; product > limit; ++count) product *= curand_uniform(state);
  return count;
}

#pragma clang force_cuda_host_device end
#endif
