// cuRAND's device generators: XORWOW (Marsaglia, "Xorshift RNGs", 2003), Philox4x32-10 (Salmon et al., "Parallel random
// numbers: as easy as 1, 2, 3", 2011) and MRG32k3a (L'Ecuyer, "Good parameters and implementations for combined multiple
// recursive random number generators", 1999), with the numbers that cuRAND gives for the same seed, sequence and offset.
#pragma once

#include "gpulua_xorwow_jumps.h"

#pragma clang force_cuda_host_device begin

typedef enum curandStatus { CURAND_STATUS_SUCCESS = 0 } curandStatus_t;

enum gpulua_rest_kind : unsigned char { gpulua_no_rest, gpulua_normal_rest, gpulua_log_normal_rest };

/// The second of a pair of normal or log-normal numbers, until it is asked for. There is room for one in each precision: asking
/// for the other kind makes a new pair.
struct gpulua_rest {
  gpulua_rest_kind kind, wide_kind;
  float number;
  double wide_number;
};
struct curandStateXORWOW {
  unsigned int counter;   // a Weyl sequence, added to
  unsigned int words[5];  // the shift register
  gpulua_rest rest;
};
struct curandStatePhilox4_32_10 {
  uint4 counter, output;
  uint2 key;
  unsigned int used;  // numbers of `output` given so far
  gpulua_rest rest;
};
struct curandStateMRG32k3a {
  unsigned int first[3], second[3];  // the last three numbers of each recurrence, oldest first
  gpulua_rest rest;
};
typedef curandStateXORWOW curandStateXORWOW_t;
typedef curandStateXORWOW curandState_t;
typedef curandStateXORWOW curandState;
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
typedef curandStateMRG32k3a curandStateMRG32k3a_t;

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

// ---- MRG32k3a ------------------------------------------------------------------------------------------------------------------

/// Coefficients, the lowest first, of a polynomial of degree 2 modulo the characteristic one of a recurrence.
struct gpulua_polynomial {
  unsigned long long c[3];
};
/// Each number from the three before it, the oldest first, modulo 2^32 - lack. 2^76 and 2^127 steps are those to the next
/// subsequence and sequence.
struct gpulua_recurrence {
  unsigned long long lack, oldest, middle, newest;
  gpulua_polynomial subsequence, sequence;  // x to the power of that many steps
};
constexpr gpulua_recurrence gpulua_first = {
    209, 4294967087 - 810728, 1403580, 0, {{82758667, 1871391091, 4127413238}}, {{2427906178, 3580155704, 949770784}}};
constexpr gpulua_recurrence gpulua_second = {22853,  4294944443 - 1370589,
                                             0,      527612,
                                             {{1511326704, 3759209742, 1610795712}}, {{1464411153, 277697599, 1610723613}}};

/// A smaller number with the same rest: below 2^47, and for x below that below 2^33.
inline unsigned long long gpulua_fold(const gpulua_recurrence& r, unsigned long long x) {
  return (x >> 32) * r.lack + (x & 0xffffffff);
}
inline unsigned long long gpulua_rest_of(const gpulua_recurrence& r, unsigned long long x) {
  x = gpulua_fold(r, gpulua_fold(r, x));
  unsigned long long modulus = 0x100000000 - r.lack;
  return x >= modulus ? x - modulus : x;
}
inline unsigned int gpulua_step(const gpulua_recurrence& r, unsigned int* last) {
  unsigned long long next =
      gpulua_rest_of(r, gpulua_fold(r, r.oldest * last[0]) + r.middle * last[1] + r.newest * last[2]);
  last[0] = last[1], last[1] = last[2], last[2] = (unsigned int)next;
  return last[2];
}
inline gpulua_polynomial gpulua_product(const gpulua_recurrence& r, const gpulua_polynomial& p, const gpulua_polynomial& q) {
  unsigned long long c[5] = {0, 0, 0, 0, 0};
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) c[i + k] += gpulua_fold(r, p.c[i] * q.c[k]);
  for (int i = 4; i > 2; --i) {
    unsigned long long top = gpulua_rest_of(r, c[i]);
    c[i - 3] += gpulua_fold(r, top * r.oldest);
    c[i - 2] += top * r.middle;
    c[i - 1] += top * r.newest;
  }
  return {{gpulua_rest_of(r, c[0]), gpulua_rest_of(r, c[1]), gpulua_rest_of(r, c[2])}};
}
/// Skips `count` times the steps that `jump` stands for.
inline void gpulua_skip(const gpulua_recurrence& r, unsigned int* last, gpulua_polynomial jump, unsigned long long count) {
  if (count == 0) return;
  gpulua_polynomial power = {{1, 0, 0}};
  for (; count != 0; count >>= 1) {
    if (count & 1) power = gpulua_product(r, power, jump);
    jump = gpulua_product(r, jump, jump);
  }
  unsigned long long sum[3] = {0, 0, 0};
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) sum[k] += gpulua_fold(r, power.c[i] * last[k]);
    gpulua_step(r, last);
  }
  for (int k = 0; k < 3; ++k) last[k] = (unsigned int)gpulua_rest_of(r, sum[k]);
}
inline void skipahead(unsigned long long count, curandStateMRG32k3a* state) {
  gpulua_skip(gpulua_first, state->first, {{0, 1, 0}}, count);
  gpulua_skip(gpulua_second, state->second, {{0, 1, 0}}, count);
}
inline void skipahead_subsequence(unsigned long long count, curandStateMRG32k3a* state) {
  gpulua_skip(gpulua_first, state->first, gpulua_first.subsequence, count);
  gpulua_skip(gpulua_second, state->second, gpulua_second.subsequence, count);
}
inline void skipahead_sequence(unsigned long long count, curandStateMRG32k3a* state) {
  gpulua_skip(gpulua_first, state->first, gpulua_first.sequence, count);
  gpulua_skip(gpulua_second, state->second, gpulua_second.sequence, count);
}
inline void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                        curandStateMRG32k3a* state) {
  unsigned long long low = 1, high = 1;
  if (seed != 0) low = (unsigned int)seed ^ 0x55555555u, high = (unsigned int)(seed >> 32) ^ 0xaaaaaaaau;
  for (int i = 0; i < 3; ++i) {
    state->first[i] = (unsigned int)gpulua_rest_of(gpulua_first, (i == 1 ? high : low) * 12345);
    state->second[i] = (unsigned int)gpulua_rest_of(gpulua_second, (i == 1 ? low : high) * 12345);
  }
  state->rest = {};
  skipahead_subsequence(subsequence, state);
  skipahead(offset, state);
}
/// The generator's own number, from 1 to the first modulus.
inline unsigned int gpulua_combined(curandStateMRG32k3a* state) {
  unsigned int a = gpulua_step(gpulua_first, state->first), b = gpulua_step(gpulua_second, state->second);
  return a > b ? a - b : a - b - (unsigned int)gpulua_first.lack;
}
/// Spread over 32 bits.
inline unsigned int curand(curandStateMRG32k3a* state) { return (unsigned int)(gpulua_combined(state) * 1.000000048662); }

#pragma clang force_cuda_host_device end
