// Integer intrinsics.
#pragma once

inline int __popc(unsigned int x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned int)x); }
inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned int __brev(unsigned int x) { return __builtin_bitreverse32(x); }
inline unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
/// The place of the |offset|-th set bit of `mask` from bit `base` on, upwards or downwards; all ones where there is none.
inline unsigned int __fns(unsigned int mask, unsigned int base, int offset) {
  if (base > 31) return ~0u;
  if (offset == 0) return mask >> base & 1 ? base : ~0u;
  int step = offset > 0 ? 1 : -1, left = offset > 0 ? offset : -offset;
  for (int place = (int)base; place >= 0 && place < 32; place += step)
    if ((mask >> place & 1) && --left == 0) return (unsigned int)place;
  return ~0u;
}

inline int __mulhi(int x, int y) { return (int)((long long)x * y >> 32); }
inline unsigned int __umulhi(unsigned int x, unsigned int y) { return (unsigned int)((unsigned long long)x * y >> 32); }
inline long long __mul64hi(long long x, long long y) { return (long long)((__int128)x * y >> 64); }
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return (unsigned long long)((unsigned __int128)x * y >> 64);
}
inline int mulhi(int x, int y) { return __mulhi(x, y); }
inline unsigned int umulhi(unsigned int x, unsigned int y) { return __umulhi(x, y); }
inline long long mul64hi(long long x, long long y) { return __mul64hi(x, y); }
inline unsigned long long umul64hi(unsigned long long x, unsigned long long y) { return __umul64hi(x, y); }
inline int __mul24(int x, int y) {
  return (int)(unsigned int)(((long long)((unsigned int)x << 8) << 32 >> 40) * ((long long)((unsigned int)y << 8) << 32 >> 40));
}
inline unsigned int __umul24(unsigned int x, unsigned int y) { return (x & 0xffffffu) * (y & 0xffffffu); }
inline int mul24(int x, int y) { return __mul24(x, y); }
inline unsigned int umul24(unsigned int x, unsigned int y) { return __umul24(x, y); }
inline int __hadd(int x, int y) { return (int)(((long long)x + y) >> 1); }
inline int __rhadd(int x, int y) { return (int)(((long long)x + y + 1) >> 1); }
inline unsigned int __uhadd(unsigned int x, unsigned int y) { return (unsigned int)(((unsigned long long)x + y) >> 1); }
inline unsigned int __urhadd(unsigned int x, unsigned int y) { return (unsigned int)(((unsigned long long)x + y + 1) >> 1); }
inline unsigned int __sad(int x, int y, unsigned int z) {
  return (x > y ? (unsigned int)x - (unsigned int)y : (unsigned int)y - (unsigned int)x) + z;
}
inline unsigned int __usad(unsigned int x, unsigned int y, unsigned int z) { return (x > y ? x - y : y - x) + z; }

/// Four bytes out of the eight of y:x. Only three bits of each of the selector's nibbles count.
inline unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector) {
  unsigned long long bytes = (unsigned long long)y << 32 | x;
  unsigned int result = 0;
  for (int i = 0; i < 4; ++i) {
    unsigned int place = selector >> 4 * i & 7;
    result |= ((unsigned int)(bytes >> 8 * place) & 255) << 8 * i;
  }
  return result;
}
inline unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift) {
  return (unsigned int)(((unsigned long long)high << 32 | low) << (shift & 31) >> 32);
}
inline unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift) {
  return (unsigned int)(((unsigned long long)high << 32 | low) >> (shift & 31));
}
inline unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
inline unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

// Dot products of small numbers in words, or in vectors of them: dp4a of bytes with bytes, dp2a of halves with half the bytes.
template <class A, class B>
inline unsigned int gpulua_dp4a(unsigned int a, unsigned int b, unsigned int sum) {
  for (int i = 0; i < 32; i += 8) sum += (unsigned int)((int)(A)(a >> i) * (int)(B)(b >> i));
  return sum;
}
template <class A, class B>
inline unsigned int gpulua_dp2a(unsigned int a, unsigned int b, unsigned int sum) {
  return sum + (unsigned int)((int)(A)a * (int)(B)b) + (unsigned int)((int)(A)(a >> 16) * (int)(B)(b >> 8));
}
#define GPULUA_DOT(T, byte, word, byte_vector, word_vector)                                                        \
  inline T __dp4a(T a, T b, T c) { return (T)gpulua_dp4a<byte, byte>(a, b, c); }                                    \
  inline T __dp2a_lo(T a, T b, T c) { return (T)gpulua_dp2a<word, byte>(a, b, c); }                                 \
  inline T __dp2a_hi(T a, T b, T c) { return (T)gpulua_dp2a<word, byte>(a, (unsigned int)b >> 16, c); }             \
  inline T __dp4a(byte_vector a, byte_vector b, T c) { return __dp4a(__builtin_bit_cast(T, a), __builtin_bit_cast(T, b), c); } \
  inline T __dp2a_lo(word_vector a, byte_vector b, T c) {                                                          \
    return __dp2a_lo(__builtin_bit_cast(T, a), __builtin_bit_cast(T, b), c);                                       \
  }                                                                                                                \
  inline T __dp2a_hi(word_vector a, byte_vector b, T c) {                                                          \
    return __dp2a_hi(__builtin_bit_cast(T, a), __builtin_bit_cast(T, b), c);                                       \
  }
GPULUA_DOT(int, signed char, short, char4, short2)
GPULUA_DOT(unsigned int, unsigned char, unsigned short, uchar4, ushort2)
#undef GPULUA_DOT
