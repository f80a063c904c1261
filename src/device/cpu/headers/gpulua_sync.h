// CUDA's operations between the threads of a block and the lanes of a warp, made out of the engine builtins.
#pragma once

// ---- the block -------------------------------------------------------------------------------------------------------

inline void __syncthreads(GPULUA_SOURCE_LINE) { gpulua_barrier(file, line); }
inline int __syncthreads_count(int predicate, GPULUA_SOURCE_LINE) {
  return (int)gpulua_barrier_count(predicate != 0, file, line);
}
inline int __syncthreads_or(int predicate, GPULUA_SOURCE_LINE) {
  return gpulua_barrier_count(predicate != 0, file, line) != 0;
}
inline int __syncthreads_and(int predicate, GPULUA_SOURCE_LINE) {
  return gpulua_barrier_count(predicate == 0, file, line) == 0;
}

// ---- the warp --------------------------------------------------------------------------------------------------------

inline unsigned int gpulua_lane() { return gpulua_thread_context.linear & 31; }

inline void __syncwarp(unsigned int mask = 0xffffffffu) { gpulua_warp_barrier(mask); }
inline unsigned int __activemask() { return gpulua_activemask(); }
/// A thread that sleeps lets others run.
inline void __nanosleep(unsigned int) { gpulua_pause(); }

inline unsigned int __ballot_sync(unsigned int mask, int predicate) { return gpulua_ballot(mask, predicate != 0); }
inline int __any_sync(unsigned int mask, int predicate) { return gpulua_ballot(mask, predicate != 0) != 0; }
inline int __all_sync(unsigned int mask, int predicate) { return gpulua_ballot(mask, predicate == 0) == 0; }
inline int __uni_sync(unsigned int mask, int predicate) {
  const unsigned int yes = gpulua_ballot(mask, predicate != 0);
  return yes == 0 || yes == gpulua_ballot(mask, 1);
}

// What travels between lanes is 32 bits; wider values go in halves.
inline unsigned int gpulua_exchange(unsigned int mask, unsigned int value, unsigned int lane) {
  return gpulua_shuffle(mask, value, lane);
}
inline unsigned long long gpulua_exchange(unsigned int mask, unsigned long long value, unsigned int lane) {
  const unsigned int low = gpulua_shuffle(mask, (unsigned int)value, lane);
  return (unsigned long long)gpulua_shuffle(mask, (unsigned int)(value >> 32), lane) << 32 | low;
}

// The lane that a shuffle reads, by the rules of PTX's shfl: a warp is cut into segments of `width` lanes, amounts count
// modulo 32, and a lane that would read outside of its segment reads its own value.
inline unsigned int gpulua_source_lane(int lane, int width) {
  const unsigned int segment = 32u - (unsigned int)width;
  return (gpulua_lane() & segment) | ((unsigned int)lane & ~segment & 31);
}
inline unsigned int gpulua_source_up(unsigned int delta, int width) {
  const unsigned int self = gpulua_lane(), first = self & (32u - (unsigned int)width);
  return (int)(self - (delta & 31)) >= (int)first ? self - (delta & 31) : self;
}
inline unsigned int gpulua_source_within(unsigned int source, int width) {
  const unsigned int self = gpulua_lane(), segment = 32u - (unsigned int)width;
  return source <= ((self & segment) | (~segment & 31)) ? source : self;
}
inline unsigned int gpulua_source_down(unsigned int delta, int width) {
  return gpulua_source_within(gpulua_lane() + (delta & 31), width);
}
inline unsigned int gpulua_source_xor(int lane_mask, int width) {
  return gpulua_source_within(gpulua_lane() ^ ((unsigned int)lane_mask & 31), width);
}

#define GPULUA_SHUFFLE(T, Bits, name, Amount, source)                                        \
  inline T name(unsigned int mask, T value, Amount amount, int width = 32) {                 \
    const Bits bits = gpulua_exchange(mask, __builtin_bit_cast(Bits, value), source(amount, width)); \
    return __builtin_bit_cast(T, bits);                                                      \
  }
/// The lanes with a value of the same bits; and all lanes that take part if all have the same bits, else none.
#define GPULUA_MATCH(T, Bits)                                                          \
  inline unsigned int __match_any_sync(unsigned int mask, T value) {                   \
    const Bits bits = __builtin_bit_cast(Bits, value);                                 \
    unsigned int result = 0;                                                           \
    for (unsigned int left = gpulua_ballot(mask, 1); left != 0;) {                     \
      const bool same = gpulua_exchange(mask, bits, __builtin_ctz(left)) == bits;      \
      const unsigned int group = gpulua_ballot(mask, same);                            \
      if (same) result = group;                                                        \
      left &= ~group;                                                                  \
    }                                                                                  \
    return result;                                                                     \
  }                                                                                    \
  inline unsigned int __match_all_sync(unsigned int mask, T value, int* all_same) {    \
    const Bits bits = __builtin_bit_cast(Bits, value);                                 \
    const unsigned int group = gpulua_ballot(mask, 1);                                 \
    const bool same = gpulua_exchange(mask, bits, __builtin_ctz(group)) == bits;       \
    *all_same = gpulua_ballot(mask, same) == group;                                    \
    return *all_same ? group : 0;                                                      \
  }
#define GPULUA_EXCHANGES(T, Bits)                                                  \
  GPULUA_SHUFFLE(T, Bits, __shfl_sync, int, gpulua_source_lane)                    \
  GPULUA_SHUFFLE(T, Bits, __shfl_up_sync, unsigned int, gpulua_source_up)          \
  GPULUA_SHUFFLE(T, Bits, __shfl_down_sync, unsigned int, gpulua_source_down)      \
  GPULUA_SHUFFLE(T, Bits, __shfl_xor_sync, int, gpulua_source_xor)                 \
  GPULUA_MATCH(T, Bits)
GPULUA_EXCHANGES(int, unsigned int)
GPULUA_EXCHANGES(unsigned int, unsigned int)
GPULUA_EXCHANGES(float, unsigned int)
GPULUA_EXCHANGES(long, unsigned long long)
GPULUA_EXCHANGES(unsigned long, unsigned long long)
GPULUA_EXCHANGES(long long, unsigned long long)
GPULUA_EXCHANGES(unsigned long long, unsigned long long)
GPULUA_EXCHANGES(double, unsigned long long)
#undef GPULUA_SHUFFLE
#undef GPULUA_MATCH
#undef GPULUA_EXCHANGES

/// A whole warp halves the distance in each step; where lanes are missing, all read each.
#define GPULUA_REDUCE(T, name, combine)                                                                    \
  inline T name(unsigned int mask, T value) {                                                              \
    const unsigned int group = gpulua_ballot(mask, 1);                                                     \
    if (group == 0xffffffffu) {                                                                            \
      for (unsigned int step = 16; step != 0; step /= 2) {                                                 \
        const T other = (T)gpulua_shuffle(mask, (unsigned int)value, gpulua_lane() ^ step);                \
        value = combine;                                                                                   \
      }                                                                                                    \
      return value;                                                                                        \
    }                                                                                                      \
    const T own = value;                                                                                   \
    value = (T)gpulua_shuffle(mask, (unsigned int)own, __builtin_ctz(group));                              \
    for (unsigned int left = group & (group - 1); left != 0; left &= left - 1) {                           \
      const T other = (T)gpulua_shuffle(mask, (unsigned int)own, __builtin_ctz(left));                     \
      value = combine;                                                                                     \
    }                                                                                                      \
    return value;                                                                                          \
  }
GPULUA_REDUCE(unsigned int, __reduce_add_sync, value + other)
GPULUA_REDUCE(unsigned int, __reduce_min_sync, other < value ? other : value)
GPULUA_REDUCE(unsigned int, __reduce_max_sync, other > value ? other : value)
GPULUA_REDUCE(unsigned int, __reduce_and_sync, value & other)
GPULUA_REDUCE(unsigned int, __reduce_or_sync, value | other)
GPULUA_REDUCE(unsigned int, __reduce_xor_sync, value ^ other)
GPULUA_REDUCE(int, __reduce_add_sync, (int)((unsigned int)value + (unsigned int)other))
GPULUA_REDUCE(int, __reduce_min_sync, other < value ? other : value)
GPULUA_REDUCE(int, __reduce_max_sync, other > value ? other : value)
#undef GPULUA_REDUCE
