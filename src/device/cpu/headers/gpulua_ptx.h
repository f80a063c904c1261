// PTX's instructions, by the descriptions in NVIDIA's "PTX ISA": the function gpulua_ptx_bfe_u32 is the instruction bfe.u32. The compiler
// (src/device/cpu/ptx/) turns inline assembly into calls of these. A vector operand {a, b} is a pointer to its elements, the second
// destination of `d|p` a pointer after them; a function whose last parameters are `file` and `line` is told its place in the source.
// Not here, since the compiler makes them itself: mov, ld, st, cvta, setp, selp, and what has no effect on this device.
#pragma once

#define GPULUA_PTX(result, name) extern "C" __attribute__((device)) inline result gpulua_ptx_##name

typedef unsigned char gpulua_u8;
typedef signed char gpulua_s8;
typedef unsigned short gpulua_u16;
typedef short gpulua_s16;
typedef unsigned int gpulua_u32;
typedef int gpulua_s32;
typedef unsigned long long gpulua_u64;
typedef long long gpulua_s64;
typedef float gpulua_f32;
typedef double gpulua_f64;

// ---- special registers -------------------------------------------------------------------------------------------------------

#define GPULUA_SPECIAL(T, name, value) GPULUA_PTX(T, special_##name)() { return value; }
#define GPULUA_SPECIAL_3(name, variable)             \
  GPULUA_SPECIAL(unsigned, name##_x, variable.x)     \
  GPULUA_SPECIAL(unsigned, name##_y, variable.y)     \
  GPULUA_SPECIAL(unsigned, name##_z, variable.z)
GPULUA_SPECIAL_3(tid, threadIdx)
GPULUA_SPECIAL_3(ntid, blockDim)
GPULUA_SPECIAL_3(ctaid, blockIdx)
GPULUA_SPECIAL_3(nctaid, gridDim)
GPULUA_SPECIAL(unsigned, laneid, gpulua_lane())
GPULUA_SPECIAL(unsigned, warpid, gpulua_thread_context.linear / 32)
GPULUA_SPECIAL(unsigned, nwarpid, (blockDim.x * blockDim.y * blockDim.z + 31) / 32)
GPULUA_SPECIAL(unsigned, smid, 0)
GPULUA_SPECIAL(unsigned, nsmid, 1)
GPULUA_SPECIAL(unsigned long long, gridid, 0)
GPULUA_SPECIAL(unsigned, lanemask_eq, 1u << gpulua_lane())
GPULUA_SPECIAL(unsigned, lanemask_lt, (1u << gpulua_lane()) - 1)
GPULUA_SPECIAL(unsigned, lanemask_le, (2u << gpulua_lane()) - 1)
GPULUA_SPECIAL(unsigned, lanemask_gt, ~((2u << gpulua_lane()) - 1))
GPULUA_SPECIAL(unsigned, lanemask_ge, ~((1u << gpulua_lane()) - 1))
GPULUA_SPECIAL(unsigned, clock, (unsigned)clock64())
GPULUA_SPECIAL(unsigned, clock_hi, (unsigned)(clock64() >> 32))
GPULUA_SPECIAL(unsigned long long, clock64, (unsigned long long)clock64())
GPULUA_SPECIAL(unsigned long long, globaltimer, gpulua_nanoseconds())
GPULUA_SPECIAL(unsigned, globaltimer_lo, (unsigned)gpulua_nanoseconds())
GPULUA_SPECIAL(unsigned, globaltimer_hi, (unsigned)(gpulua_nanoseconds() >> 32))
#undef GPULUA_SPECIAL
#undef GPULUA_SPECIAL_3

// ---- integers ----------------------------------------------------------------------------------------------------------------

#define GPULUA_INTEGER(t, T, U, W, bits)                                                                       \
  GPULUA_PTX(T, add_##t)(T a, T b) { return (T)((U)a + (U)b); }                                               \
  GPULUA_PTX(T, sub_##t)(T a, T b) { return (T)((U)a - (U)b); }                                               \
  GPULUA_PTX(T, mul_lo_##t)(T a, T b) { return (T)((W)a * (W)b); }                                            \
  GPULUA_PTX(T, mul_hi_##t)(T a, T b) { return (T)((W)a * (W)b >> bits); }                                    \
  GPULUA_PTX(T, mad_lo_##t)(T a, T b, T c) { return (T)((U)(T)((W)a * (W)b) + (U)c); }                        \
  GPULUA_PTX(T, mad_hi_##t)(T a, T b, T c) { return (T)((U)(T)((W)a * (W)b >> bits) + (U)c); }                \
  GPULUA_PTX(T, div_##t)(T a, T b) { return b == 0 ? (T)-1 : (U)b == (U)-1 && (T)-1 < 0 ? (T)(0 - (U)a) : (T)(a / b); } \
  GPULUA_PTX(T, rem_##t)(T a, T b) { return b == 0 ? a : (U)b == (U)-1 && (T)-1 < 0 ? 0 : (T)(a % b); }       \
  GPULUA_PTX(T, min_##t)(T a, T b) { return a < b ? a : b; }                                                  \
  GPULUA_PTX(T, max_##t)(T a, T b) { return a > b ? a : b; }                                                  \
  GPULUA_PTX(T, sad_##t)(T a, T b, T c) { return (T)((U)c + (a < b ? (U)b - (U)a : (U)a - (U)b)); }           \
  GPULUA_PTX(T, shr_##t)(T a, unsigned b) { return b < bits ? (T)(a >> b) : (T)(a < 0 ? -1 : 0); }
GPULUA_INTEGER(u16, gpulua_u16, gpulua_u16, unsigned, 16)
GPULUA_INTEGER(s16, gpulua_s16, gpulua_u16, int, 16)
GPULUA_INTEGER(u32, gpulua_u32, gpulua_u32, unsigned long long, 32)
GPULUA_INTEGER(s32, gpulua_s32, gpulua_u32, long long, 32)
GPULUA_INTEGER(u64, gpulua_u64, gpulua_u64, unsigned __int128, 64)
GPULUA_INTEGER(s64, gpulua_s64, gpulua_u64, __int128, 64)
#undef GPULUA_INTEGER

#define GPULUA_SIGNED(t, T, U)                                                      \
  GPULUA_PTX(T, neg_##t)(T a) { return (T)(0 - (U)a); }                             \
  GPULUA_PTX(T, abs_##t)(T a) { return a < 0 ? (T)(0 - (U)a) : a; }
GPULUA_SIGNED(s16, gpulua_s16, gpulua_u16)
GPULUA_SIGNED(s32, gpulua_s32, gpulua_u32)
GPULUA_SIGNED(s64, gpulua_s64, gpulua_u64)
#undef GPULUA_SIGNED
GPULUA_PTX(int, add_sat_s32)(int a, int b) {
  const long long sum = (long long)a + b;
  return (int)(sum > 2147483647ll ? 2147483647ll : sum < -2147483648ll ? -2147483648ll : sum);
}
GPULUA_PTX(int, sub_sat_s32)(int a, int b) {
  const long long sum = (long long)a - b;
  return (int)(sum > 2147483647ll ? 2147483647ll : sum < -2147483648ll ? -2147483648ll : sum);
}

#define GPULUA_WIDE(t, T, W)                                                        \
  GPULUA_PTX(W, mul_wide_##t)(T a, T b) { return (W)a * (W)b; }                     \
  GPULUA_PTX(W, mad_wide_##t)(T a, T b, W c) { return (W)((gpulua_u64)((W)a * (W)b) + (gpulua_u64)c); }
GPULUA_WIDE(u16, gpulua_u16, gpulua_u32)
GPULUA_WIDE(s16, gpulua_s16, gpulua_s32)
GPULUA_WIDE(u32, gpulua_u32, gpulua_u64)
GPULUA_WIDE(s32, gpulua_s32, gpulua_s64)
#undef GPULUA_WIDE

/// Products of 24 bits: bits 0 to 31 of the 48, or 16 to 47.
GPULUA_PTX(int, mul24_lo_s32)(int a, int b) { return __mul24(a, b); }
GPULUA_PTX(unsigned, mul24_lo_u32)(unsigned a, unsigned b) { return __umul24(a, b); }
GPULUA_PTX(int, mul24_hi_s32)(int a, int b) {
  return (int)((long long)((int)((unsigned)a << 8) >> 8) * ((int)((unsigned)b << 8) >> 8) >> 16);
}
GPULUA_PTX(unsigned, mul24_hi_u32)(unsigned a, unsigned b) {
  return (unsigned)((unsigned long long)(a & 0xffffffu) * (b & 0xffffffu) >> 16);
}
GPULUA_PTX(int, mad24_lo_s32)(int a, int b, int c) { return (int)((unsigned)__mul24(a, b) + (unsigned)c); }
GPULUA_PTX(unsigned, mad24_lo_u32)(unsigned a, unsigned b, unsigned c) { return __umul24(a, b) + c; }

// Additions with a carry, which lives from one instruction to the next (src/device/cpu/ptx/ptx_carry.h). A subtraction's carry is its borrow.
extern __attribute__((device)) unsigned gpulua_ptx_carry;
#define GPULUA_CARRIED(t, U, W, bits)                                                                           \
  __attribute__((device)) inline U gpulua_add_carried(U a, U b, unsigned carry, bool keeps) {                   \
    const W sum = (W)a + b + carry;                                                                             \
    if (keeps) gpulua_ptx_carry = (unsigned)(sum >> bits);                                                      \
    return (U)sum;                                                                                              \
  }                                                                                                             \
  __attribute__((device)) inline U gpulua_subtract_carried(U a, U b, unsigned borrow, bool keeps) {             \
    const W difference = (W)a - b - borrow;                                                                     \
    if (keeps) gpulua_ptx_carry = (unsigned)(difference >> bits) & 1;                                           \
    return (U)difference;                                                                                       \
  }
GPULUA_CARRIED(u32, gpulua_u32, unsigned long long, 32)
GPULUA_CARRIED(u64, gpulua_u64, unsigned __int128, 64)
#undef GPULUA_CARRIED
#define GPULUA_CARRY(t, T, U, W, bits)                                                                                    \
  GPULUA_PTX(T, add_cc_##t)(T a, T b) { return (T)gpulua_add_carried((U)a, (U)b, 0, true); }                              \
  GPULUA_PTX(T, addc_##t)(T a, T b) { return (T)gpulua_add_carried((U)a, (U)b, gpulua_ptx_carry, false); }                \
  GPULUA_PTX(T, addc_cc_##t)(T a, T b) { return (T)gpulua_add_carried((U)a, (U)b, gpulua_ptx_carry, true); }              \
  GPULUA_PTX(T, sub_cc_##t)(T a, T b) { return (T)gpulua_subtract_carried((U)a, (U)b, 0, true); }                         \
  GPULUA_PTX(T, subc_##t)(T a, T b) { return (T)gpulua_subtract_carried((U)a, (U)b, gpulua_ptx_carry, false); }           \
  GPULUA_PTX(T, subc_cc_##t)(T a, T b) { return (T)gpulua_subtract_carried((U)a, (U)b, gpulua_ptx_carry, true); }         \
  GPULUA_PTX(T, mad_lo_cc_##t)(T a, T b, T c) { return (T)gpulua_add_carried((U)((W)a * (W)b), (U)c, 0, true); }          \
  GPULUA_PTX(T, mad_hi_cc_##t)(T a, T b, T c) { return (T)gpulua_add_carried((U)((W)a * (W)b >> bits), (U)c, 0, true); }  \
  GPULUA_PTX(T, madc_lo_##t)(T a, T b, T c) {                                                                             \
    return (T)gpulua_add_carried((U)((W)a * (W)b), (U)c, gpulua_ptx_carry, false);                                        \
  }                                                                                                                       \
  GPULUA_PTX(T, madc_hi_##t)(T a, T b, T c) {                                                                             \
    return (T)gpulua_add_carried((U)((W)a * (W)b >> bits), (U)c, gpulua_ptx_carry, false);                                \
  }                                                                                                                       \
  GPULUA_PTX(T, madc_lo_cc_##t)(T a, T b, T c) {                                                                          \
    return (T)gpulua_add_carried((U)((W)a * (W)b), (U)c, gpulua_ptx_carry, true);                                         \
  }                                                                                                                       \
  GPULUA_PTX(T, madc_hi_cc_##t)(T a, T b, T c) {                                                                          \
    return (T)gpulua_add_carried((U)((W)a * (W)b >> bits), (U)c, gpulua_ptx_carry, true);                                 \
  }
GPULUA_CARRY(u32, gpulua_u32, gpulua_u32, unsigned long long, 32)
GPULUA_CARRY(s32, gpulua_s32, gpulua_u32, long long, 32)
GPULUA_CARRY(u64, gpulua_u64, gpulua_u64, unsigned __int128, 64)
GPULUA_CARRY(s64, gpulua_s64, gpulua_u64, __int128, 64)
#undef GPULUA_CARRY

// ---- bits --------------------------------------------------------------------------------------------------------------------

#define GPULUA_BITS(t, T, bits)                                                     \
  GPULUA_PTX(T, and_##t)(T a, T b) { return (T)(a & b); }                           \
  GPULUA_PTX(T, or_##t)(T a, T b) { return (T)(a | b); }                            \
  GPULUA_PTX(T, xor_##t)(T a, T b) { return (T)(a ^ b); }                           \
  GPULUA_PTX(T, not_##t)(T a) { return (T)~a; }                                     \
  GPULUA_PTX(T, cnot_##t)(T a) { return a == 0; }                                   \
  GPULUA_PTX(T, shl_##t)(T a, unsigned b) { return b < bits ? (T)(a << b) : (T)0; } \
  GPULUA_PTX(T, shr_##t)(T a, unsigned b) { return b < bits ? (T)(a >> b) : (T)0; }
GPULUA_BITS(b16, gpulua_u16, 16)
GPULUA_BITS(b32, gpulua_u32, 32)
GPULUA_BITS(b64, gpulua_u64, 64)
#undef GPULUA_BITS
GPULUA_PTX(bool, and_pred)(bool a, bool b) { return a && b; }
GPULUA_PTX(bool, or_pred)(bool a, bool b) { return a || b; }
GPULUA_PTX(bool, xor_pred)(bool a, bool b) { return a != b; }
GPULUA_PTX(bool, not_pred)(bool a) { return !a; }

GPULUA_PTX(unsigned, popc_b32)(unsigned a) { return (unsigned)__popc(a); }
GPULUA_PTX(unsigned, popc_b64)(unsigned long long a) { return (unsigned)__popcll(a); }
GPULUA_PTX(unsigned, clz_b32)(unsigned a) { return (unsigned)__clz((int)a); }
GPULUA_PTX(unsigned, clz_b64)(unsigned long long a) { return (unsigned)__clzll((long long)a); }
GPULUA_PTX(unsigned, brev_b32)(unsigned a) { return __brev(a); }
GPULUA_PTX(unsigned long long, brev_b64)(unsigned long long a) { return __brevll(a); }
GPULUA_PTX(unsigned, fns_b32)(unsigned mask, unsigned base, int offset) { return __fns(mask, base, offset); }

/// The place of the highest bit that differs from the sign, or from 0 without one; all ones where none does.
#define GPULUA_FIND(t, T, U, count, bits)                                                                       \
  GPULUA_PTX(unsigned, bfind_##t)(T a) { return (unsigned)(bits - 1) - (unsigned)count((U)(a < 0 ? ~a : a)); }  \
  GPULUA_PTX(unsigned, bfind_shiftamt_##t)(T a) {                                                               \
    const unsigned zeros = (unsigned)count((U)(a < 0 ? ~a : a));                                                \
    return zeros == bits ? ~0u : zeros;                                                                         \
  }
GPULUA_FIND(u32, gpulua_u32, int, __clz, 32)
GPULUA_FIND(s32, gpulua_s32, int, __clz, 32)
GPULUA_FIND(u64, gpulua_u64, long long, __clzll, 64)
GPULUA_FIND(s64, gpulua_s64, long long, __clzll, 64)
#undef GPULUA_FIND

/// `length` bits from `place` on. Above them stand zeros, or the field's highest bit, which is the word's own if the field is longer. The
/// two numbers are bytes for words of 32 bits; for those of 64 an H200 takes all of each.
#define GPULUA_EXTRACT(t, T, U, bits)                                                         \
  GPULUA_PTX(T, bfe_##t)(T a, unsigned place, unsigned length) {                              \
    if (bits == 32) place &= 255, length &= 255;                                              \
    if (length == 0) return 0;                                                                \
    if (place >= bits) return (T)(a < 0 ? -1 : 0);                                            \
    if (length > bits - place) length = bits - place;                                         \
    return (T)((T)((U)a << (bits - place - length)) >> (bits - length));                      \
  }
GPULUA_EXTRACT(u32, gpulua_u32, gpulua_u32, 32)
GPULUA_EXTRACT(s32, gpulua_s32, gpulua_u32, 32)
GPULUA_EXTRACT(u64, gpulua_u64, gpulua_u64, 64)
GPULUA_EXTRACT(s64, gpulua_s64, gpulua_u64, 64)
#undef GPULUA_EXTRACT
#define GPULUA_INSERT(t, U, bits)                                                             \
  GPULUA_PTX(U, bfi_##t)(U a, U b, unsigned place, unsigned length) {                         \
    if (bits == 32) place &= 255, length &= 255;                                              \
    if (place >= bits || length == 0) return b;                                               \
    const U mask = (length >= bits ? ~(U)0 : ((U)1 << length) - 1) << place;                  \
    return (b & ~mask) | (a << place & mask);                                                 \
  }
GPULUA_INSERT(b32, gpulua_u32, 32)
GPULUA_INSERT(b64, gpulua_u64, 64)
#undef GPULUA_INSERT
GPULUA_PTX(unsigned, bmsk_clamp_b32)(unsigned place, unsigned length) {
  return place >= 32 ? 0 : (length >= 32 ? ~0u : (1u << length) - 1) << place;
}
GPULUA_PTX(unsigned, bmsk_wrap_b32)(unsigned place, unsigned length) { return ((1u << (length & 31)) - 1) << (place & 31); }

GPULUA_PTX(unsigned, shf_l_wrap_b32)(unsigned a, unsigned b, unsigned c) { return __funnelshift_l(a, b, c); }
GPULUA_PTX(unsigned, shf_r_wrap_b32)(unsigned a, unsigned b, unsigned c) { return __funnelshift_r(a, b, c); }
GPULUA_PTX(unsigned, shf_l_clamp_b32)(unsigned a, unsigned b, unsigned c) { return __funnelshift_lc(a, b, c); }
GPULUA_PTX(unsigned, shf_r_clamp_b32)(unsigned a, unsigned b, unsigned c) { return __funnelshift_rc(a, b, c); }

/// Bit k of the table is the result where a, b, c have the bits of k.
GPULUA_PTX(unsigned, lop3_b32)(unsigned a, unsigned b, unsigned c, unsigned table) {
  unsigned result = 0;
#pragma unroll
  for (unsigned k = 0; k < 8; ++k)
    if (table >> k & 1) result |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
  return result;
}
/// A selector's lower three bits are one of the eight bytes of b:a; its fourth asks for that byte's sign.
GPULUA_PTX(unsigned, prmt_b32)(unsigned a, unsigned b, unsigned selectors) {
  const unsigned long long bytes = (unsigned long long)b << 32 | a;
  unsigned result = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const unsigned selector = selectors >> 4 * i & 15;
    unsigned byte = (unsigned)(bytes >> 8 * (selector & 7)) & 255;
    if (selector & 8) byte = byte & 128 ? 255 : 0;
    result |= byte << 8 * i;
  }
  return result;
}
#define GPULUA_PERMUTE(mode, byte)                                                            \
  GPULUA_PTX(unsigned, prmt_b32_##mode)(unsigned a, unsigned b, unsigned selector) {          \
    const unsigned s = selector & 3;                                                          \
    unsigned selectors = 0;                                                                   \
    for (unsigned i = 0; i < 4; ++i) selectors |= ((byte) & 7) << 4 * i;                      \
    return gpulua_ptx_prmt_b32(a, b, selectors);                                              \
  }
GPULUA_PERMUTE(f4e, s + i)
GPULUA_PERMUTE(b4e, s - i)
GPULUA_PERMUTE(rc8, s)
GPULUA_PERMUTE(ecl, i > s ? i : s)
GPULUA_PERMUTE(ecr, i < s ? i : s)
GPULUA_PERMUTE(rc16, (s & 1) * 2 + (i & 1))
#undef GPULUA_PERMUTE

GPULUA_PTX(int, dp4a_s32_s32)(int a, int b, int c) { return __dp4a(a, b, c); }
GPULUA_PTX(unsigned, dp4a_u32_u32)(unsigned a, unsigned b, unsigned c) { return __dp4a(a, b, c); }
GPULUA_PTX(int, dp4a_u32_s32)(unsigned a, unsigned b, int c) { return (int)gpulua_dp4a<unsigned char, signed char>(a, b, (unsigned)c); }
GPULUA_PTX(int, dp4a_s32_u32)(unsigned a, unsigned b, int c) { return (int)gpulua_dp4a<signed char, unsigned char>(a, b, (unsigned)c); }
GPULUA_PTX(int, dp2a_lo_s32_s32)(int a, int b, int c) { return __dp2a_lo(a, b, c); }
GPULUA_PTX(int, dp2a_hi_s32_s32)(int a, int b, int c) { return __dp2a_hi(a, b, c); }
GPULUA_PTX(unsigned, dp2a_lo_u32_u32)(unsigned a, unsigned b, unsigned c) { return __dp2a_lo(a, b, c); }
GPULUA_PTX(unsigned, dp2a_hi_u32_u32)(unsigned a, unsigned b, unsigned c) { return __dp2a_hi(a, b, c); }
GPULUA_PTX(unsigned, vabsdiff4_u32_u32_u32)(unsigned a, unsigned b, unsigned) { return __vabsdiffu4(a, b); }
GPULUA_PTX(unsigned, vabsdiff4_u32_u32_u32_add)(unsigned a, unsigned b, unsigned c) { return __vsadu4(a, b) + c; }

// ---- floating point ----------------------------------------------------------------------------------------------------------

GPULUA_PTX(float, saturated_f32)(float x) { return __saturatef(x); }

#define GPULUA_FLOATING(t, T, s, add, sub, mul, fused, divide, root, rec)                     \
  GPULUA_PTX(T, add_##t)(T a, T b) { return add##_rn(a, b); }                                 \
  GPULUA_PTX(T, sub_##t)(T a, T b) { return sub##_rn(a, b); }                                 \
  GPULUA_PTX(T, mul_##t)(T a, T b) { return mul##_rn(a, b); }                                 \
  GPULUA_PTX(T, fma_##t)(T a, T b, T c) { return fma##s(a, b, c); }                           \
  GPULUA_PTX(T, mad_##t)(T a, T b, T c) { return fma##s(a, b, c); }                           \
  GPULUA_PTX(T, div_##t)(T a, T b) { return divide##_rn(a, b); }                              \
  GPULUA_PTX(T, sqrt_##t)(T a) { return sqrt##s(a); }                                         \
  GPULUA_PTX(T, rcp_##t)(T a) { return divide##_rn(1, a); }                                   \
  GPULUA_PTX(T, rsqrt_##t)(T a) { return rsqrt##s(a); }                                       \
  GPULUA_PTX(T, neg_##t)(T a) { return -a; }                                                  \
  GPULUA_PTX(T, abs_##t)(T a) { return fabs##s(a); }                                          \
  GPULUA_PTX(T, min_##t)(T a, T b) { return fmin##s(a, b); }                                  \
  GPULUA_PTX(T, max_##t)(T a, T b) { return fmax##s(a, b); }                                  \
  GPULUA_PTX(T, copysign_##t)(T a, T b) { return copysign##s(b, a); }                         \
  GPULUA_PTX(bool, testp_finite_##t)(T a) { return isfinite(a); }                             \
  GPULUA_PTX(bool, testp_infinite_##t)(T a) { return isinf(a); }                              \
  GPULUA_PTX(bool, testp_notanumber_##t)(T a) { return a != a; }                              \
  GPULUA_PTX(bool, testp_number_##t)(T a) { return a == a; }                                  \
  GPULUA_FLOATING_ROUNDED(t, T, rz, rz, add, sub, mul, fused, divide, root, rec)              \
  GPULUA_FLOATING_ROUNDED(t, T, rm, rd, add, sub, mul, fused, divide, root, rec)              \
  GPULUA_FLOATING_ROUNDED(t, T, rp, ru, add, sub, mul, fused, divide, root, rec)
#define GPULUA_FLOATING_ROUNDED(t, T, mode, way, add, sub, mul, fused, divide, root, rec)     \
  GPULUA_PTX(T, add_##mode##_##t)(T a, T b) { return add##_##way(a, b); }                     \
  GPULUA_PTX(T, sub_##mode##_##t)(T a, T b) { return sub##_##way(a, b); }                     \
  GPULUA_PTX(T, mul_##mode##_##t)(T a, T b) { return mul##_##way(a, b); }                     \
  GPULUA_PTX(T, fma_##mode##_##t)(T a, T b, T c) { return fused##_##way(a, b, c); }           \
  GPULUA_PTX(T, div_##mode##_##t)(T a, T b) { return divide##_##way(a, b); }                  \
  GPULUA_PTX(T, sqrt_##mode##_##t)(T a) { return root##_##way(a); }                           \
  GPULUA_PTX(T, rcp_##mode##_##t)(T a) { return rec##_##way(a); }
GPULUA_FLOATING(f32, float, f, __fadd, __fsub, __fmul, __fmaf, __fdiv, __fsqrt, __frcp)
GPULUA_FLOATING(f64, double, , __dadd, __dsub, __dmul, __fma, __ddiv, __dsqrt, __drcp)
#undef GPULUA_FLOATING
#undef GPULUA_FLOATING_ROUNDED
GPULUA_PTX(float, min_NaN_f32)(float a, float b) { return a != a || b != b ? __int_as_float(0x7fffffff) : fminf(a, b); }
GPULUA_PTX(float, max_NaN_f32)(float a, float b) { return a != a || b != b ? __int_as_float(0x7fffffff) : fmaxf(a, b); }
GPULUA_PTX(float, ex2_f32)(float a) { return exp2f(a); }
GPULUA_PTX(float, lg2_f32)(float a) { return log2f(a); }
GPULUA_PTX(float, sin_f32)(float a) { return sinf(a); }
GPULUA_PTX(float, cos_f32)(float a) { return cosf(a); }
GPULUA_PTX(float, tanh_f32)(float a) { return tanhf(a); }

// ---- conversions -------------------------------------------------------------------------------------------------------------

#define GPULUA_CONVERT(to, from) \
  GPULUA_PTX(gpulua_##to, cvt_##to##_##from)(gpulua_##from a) { return (gpulua_##to)a; }
#define GPULUA_CONVERT_SATURATED(to, from, least, most)                                       \
  GPULUA_PTX(gpulua_##to, cvt_sat_##to##_##from)(gpulua_##from a) {                           \
    const __int128 x = a;                                                                     \
    return (gpulua_##to)(x < (least) ? (least) : x > (most) ? (most) : x);                    \
  }
#define GPULUA_FROM_FLOATING(to, from, suffix)                                                \
  GPULUA_PTX(gpulua_##to, cvt_rzi_##to##_##from)(gpulua_##from a) { return (gpulua_##to)trunc##suffix(a); } \
  GPULUA_PTX(gpulua_##to, cvt_rni_##to##_##from)(gpulua_##from a) { return (gpulua_##to)rint##suffix(a); }  \
  GPULUA_PTX(gpulua_##to, cvt_rmi_##to##_##from)(gpulua_##from a) { return (gpulua_##to)floor##suffix(a); } \
  GPULUA_PTX(gpulua_##to, cvt_rpi_##to##_##from)(gpulua_##from a) { return (gpulua_##to)ceil##suffix(a); }
#define GPULUA_CONVERSIONS(from)                                                              \
  GPULUA_CONVERT(u8, from) GPULUA_CONVERT(s8, from) GPULUA_CONVERT(u16, from) GPULUA_CONVERT(s16, from) \
  GPULUA_CONVERT(u32, from) GPULUA_CONVERT(s32, from) GPULUA_CONVERT(u64, from) GPULUA_CONVERT(s64, from) \
  GPULUA_CONVERT_SATURATED(u8, from, 0, 255) GPULUA_CONVERT_SATURATED(s8, from, -128, 127)    \
  GPULUA_CONVERT_SATURATED(u16, from, 0, 65535) GPULUA_CONVERT_SATURATED(s16, from, -32768, 32767) \
  GPULUA_CONVERT_SATURATED(u32, from, 0, 4294967295ll) GPULUA_CONVERT_SATURATED(s32, from, -2147483648ll, 2147483647ll) \
  GPULUA_PTX(float, cvt_rn_f32_##from)(gpulua_##from a) { return (float)a; }                  \
  GPULUA_PTX(double, cvt_rn_f64_##from)(gpulua_##from a) { return (double)a; }                \
  GPULUA_PTX(gpulua_u16, cvt_rn_f16_##from)(gpulua_##from a) { return __builtin_bit_cast(gpulua_u16, (_Float16)a); }
GPULUA_CONVERSIONS(u8)
GPULUA_CONVERSIONS(s8)
GPULUA_CONVERSIONS(u16)
GPULUA_CONVERSIONS(s16)
GPULUA_CONVERSIONS(u32)
GPULUA_CONVERSIONS(s32)
GPULUA_CONVERSIONS(u64)
GPULUA_CONVERSIONS(s64)
#define GPULUA_FROM_FLOATINGS(to) GPULUA_FROM_FLOATING(to, f32, f) GPULUA_FROM_FLOATING(to, f64, )
GPULUA_FROM_FLOATINGS(s8)
GPULUA_FROM_FLOATINGS(u8)
GPULUA_FROM_FLOATINGS(s16)
GPULUA_FROM_FLOATINGS(u16)
GPULUA_FROM_FLOATINGS(s32)
GPULUA_FROM_FLOATINGS(u32)
GPULUA_FROM_FLOATINGS(s64)
GPULUA_FROM_FLOATINGS(u64)
GPULUA_FROM_FLOATINGS(f32)
GPULUA_FROM_FLOATINGS(f64)
#undef GPULUA_CONVERT
#undef GPULUA_CONVERT_SATURATED
#undef GPULUA_CONVERSIONS
#undef GPULUA_FROM_FLOATING
#undef GPULUA_FROM_FLOATINGS
GPULUA_PTX(double, cvt_f64_f32)(float a) { return a; }
GPULUA_PTX(float, cvt_f32_f32)(float a) { return a; }
GPULUA_PTX(float, cvt_rn_f32_f64)(double a) { return (float)a; }
GPULUA_PTX(float, cvt_rz_f32_f64)(double a) { return __double2float_rz(a); }
GPULUA_PTX(float, cvt_rm_f32_f64)(double a) { return __double2float_rd(a); }
GPULUA_PTX(float, cvt_rp_f32_f64)(double a) { return __double2float_ru(a); }
GPULUA_PTX(float, cvt_f32_f16)(gpulua_u16 a) { return (float)__builtin_bit_cast(_Float16, a); }
GPULUA_PTX(double, cvt_f64_f16)(gpulua_u16 a) { return (double)__builtin_bit_cast(_Float16, a); }
GPULUA_PTX(gpulua_u16, cvt_rn_f16_f32)(float a) {
  return a != a ? (gpulua_u16)0x7fff : __builtin_bit_cast(gpulua_u16, (_Float16)a);
}
GPULUA_PTX(gpulua_u16, cvt_rn_f16_f64)(double a) {
  return a != a ? (gpulua_u16)0x7fff : __builtin_bit_cast(gpulua_u16, (_Float16)a);
}
GPULUA_PTX(gpulua_u32, cvt_rn_f16x2_f32)(float high, float low) {
  return (gpulua_u32)gpulua_ptx_cvt_rn_f16_f32(high) << 16 | gpulua_ptx_cvt_rn_f16_f32(low);
}
GPULUA_PTX(float, cvt_f32_bf16)(gpulua_u16 a) { return __uint_as_float((unsigned)a << 16); }
GPULUA_PTX(gpulua_u16, cvt_rn_bf16_f32)(float a) {
  const unsigned bits = __float_as_uint(a);
  return a != a ? (gpulua_u16)0x7fff : (gpulua_u16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
GPULUA_PTX(gpulua_u16, cvt_rz_bf16_f32)(float a) { return a != a ? (gpulua_u16)0x7fff : (gpulua_u16)(__float_as_uint(a) >> 16); }
GPULUA_PTX(gpulua_u32, cvt_rn_bf16x2_f32)(float high, float low) {
  return (gpulua_u32)gpulua_ptx_cvt_rn_bf16_f32(high) << 16 | gpulua_ptx_cvt_rn_bf16_f32(low);
}
/// To TF32's 10 bits, ties away from zero.
GPULUA_PTX(gpulua_u32, cvt_rna_tf32_f32)(float a) {
  const unsigned bits = __float_as_uint(a);
  return a != a || isinf(a) ? bits : (bits + 0x1000) & 0xffffe000u;
}

// ---- threads -----------------------------------------------------------------------------------------------------------------

GPULUA_PTX(unsigned, activemask_b32)() { return __activemask(); }
GPULUA_PTX(void, nanosleep_u32)(unsigned time) { __nanosleep(time); }
// Where the compiler finds the kernel around it, the thread's end; else nothing ends the thread.
GPULUA_PTX(void, exit)(const char* file, unsigned line) {
  gpulua_fail("exit in inline PTX ends a thread in a kernel and the functions that are inlined into it alone", file, line);
}
GPULUA_PTX(void, trap)(const char* file, unsigned line) { __trap(file, line); }
GPULUA_PTX(void, bar_sync)(unsigned, const char* file, unsigned line) { __syncthreads(file, line); }
GPULUA_PTX(unsigned, bar_red_popc_u32)(unsigned, bool predicate, const char* file, unsigned line) {
  return (unsigned)__syncthreads_count(predicate, file, line);
}
GPULUA_PTX(bool, bar_red_and_pred)(unsigned, bool predicate, const char* file, unsigned line) {
  return __syncthreads_and(predicate, file, line) != 0;
}
GPULUA_PTX(bool, bar_red_or_pred)(unsigned, bool predicate, const char* file, unsigned line) {
  return __syncthreads_or(predicate, file, line) != 0;
}
GPULUA_PTX(void, bar_warp_sync)(unsigned mask) { __syncwarp(mask); }

GPULUA_PTX(bool, vote_sync_all_pred)(bool a, unsigned mask) { return __all_sync(mask, a) != 0; }
GPULUA_PTX(bool, vote_sync_any_pred)(bool a, unsigned mask) { return __any_sync(mask, a) != 0; }
GPULUA_PTX(bool, vote_sync_uni_pred)(bool a, unsigned mask) { return __uni_sync(mask, a) != 0; }
GPULUA_PTX(unsigned, vote_sync_ballot_b32)(bool a, unsigned mask) { return __ballot_sync(mask, a); }
GPULUA_PTX(unsigned, match_any_sync_b32)(unsigned a, unsigned mask) { return __match_any_sync(mask, a); }
GPULUA_PTX(unsigned, match_any_sync_b64)(unsigned long long a, unsigned mask) { return __match_any_sync(mask, a); }
GPULUA_PTX(unsigned, match_all_sync_b32_p)(unsigned a, unsigned mask, bool* all) {
  int same;
  const unsigned lanes = __match_all_sync(mask, a, &same);
  *all = same != 0;
  return lanes;
}
GPULUA_PTX(unsigned, elect_sync_p)(unsigned mask, bool* is_leader) {
  const unsigned leader = (unsigned)__builtin_ctz(gpulua_ballot(mask, 1));
  *is_leader = leader == gpulua_lane();
  return leader;
}

/// The lane that shfl reads, and in `inside` whether that is in range; if not, it reads its own. `limits`: the range's end in bits 0 to 4,
/// and the bits of a lane that number its segment in bits 8 to 12.
#define GPULUA_SHUFFLE(mode, source, is_inside)                                                                 \
  GPULUA_PTX(unsigned, shfl_sync_##mode##_b32_p)(unsigned value, unsigned b, unsigned limits, unsigned mask, bool* inside) { \
    const unsigned lane = gpulua_lane(), segment = limits >> 8 & 31, end = limits & 31;                         \
    const int first = (int)(lane & segment), last = first | (int)(end & ~segment);                              \
    b &= 31;                                                                                                    \
    const int from = source;                                                                                    \
    *inside = is_inside;                                                                                        \
    (void)last;                                                                                                 \
    return gpulua_shuffle(mask, value, *inside ? (unsigned)from : lane);                                        \
  }                                                                                                             \
  GPULUA_PTX(unsigned, shfl_sync_##mode##_b32)(unsigned value, unsigned b, unsigned limits, unsigned mask) {    \
    bool inside;                                                                                                \
    return gpulua_ptx_shfl_sync_##mode##_b32_p(value, b, limits, mask, &inside);                                \
  }
GPULUA_SHUFFLE(up, (int)lane - (int)b, from >= last)
GPULUA_SHUFFLE(down, (int)(lane + b), from <= last)
GPULUA_SHUFFLE(bfly, (int)(lane ^ b), from <= last)
GPULUA_SHUFFLE(idx, first | (int)(b & ~segment), from <= last)
#undef GPULUA_SHUFFLE
#define GPULUA_REDUX(t, T, name) \
  GPULUA_PTX(T, redux_sync_##name##_##t)(T a, unsigned mask) { return __reduce_##name##_sync(mask, a); }
GPULUA_REDUX(u32, unsigned, add)
GPULUA_REDUX(s32, int, add)
GPULUA_REDUX(u32, unsigned, min)
GPULUA_REDUX(s32, int, min)
GPULUA_REDUX(u32, unsigned, max)
GPULUA_REDUX(s32, int, max)
GPULUA_REDUX(b32, unsigned, and)
GPULUA_REDUX(b32, unsigned, or)
GPULUA_REDUX(b32, unsigned, xor)
#undef GPULUA_REDUX

// ---- memory ------------------------------------------------------------------------------------------------------------------

GPULUA_PTX(unsigned long long, shared_to_generic)(unsigned long long address) {
  return (unsigned long long)__cvta_shared_to_generic((size_t)address);
}
GPULUA_PTX(unsigned long long, generic_to_shared)(unsigned long long address) {
  return __cvta_generic_to_shared((const void*)address);
}
#define GPULUA_ATOMIC(t, T, name, function) \
  GPULUA_PTX(T, atom_##name##_##t)(T* address, T b) { return function(address, b); }
#define GPULUA_ATOMICS(t, T)                   \
  GPULUA_ATOMIC(t, T, add, atomicAdd)          \
  GPULUA_ATOMIC(t, T, min, atomicMin)          \
  GPULUA_ATOMIC(t, T, max, atomicMax)
GPULUA_ATOMICS(u32, gpulua_u32)
GPULUA_ATOMICS(s32, gpulua_s32)
GPULUA_ATOMICS(u64, gpulua_u64)
GPULUA_ATOMICS(s64, gpulua_s64)
GPULUA_ATOMIC(f32, float, add, atomicAdd)
GPULUA_ATOMIC(f64, double, add, atomicAdd)
GPULUA_ATOMIC(u32, gpulua_u32, inc, atomicInc)
GPULUA_ATOMIC(u32, gpulua_u32, dec, atomicDec)
#define GPULUA_ATOMIC_BITS(t, T)               \
  GPULUA_ATOMIC(t, T, and, atomicAnd)          \
  GPULUA_ATOMIC(t, T, or, atomicOr)            \
  GPULUA_ATOMIC(t, T, xor, atomicXor)          \
  GPULUA_ATOMIC(t, T, exch, atomicExch)        \
  GPULUA_PTX(T, atom_cas_##t)(T* address, T b, T c) { return atomicCAS(address, b, c); }
GPULUA_ATOMIC_BITS(b32, gpulua_u32)
GPULUA_ATOMIC_BITS(b64, gpulua_u64)
#undef GPULUA_ATOMIC
#undef GPULUA_ATOMICS
#undef GPULUA_ATOMIC_BITS

/// The copy is made at once, so there is nothing to wait for. Bytes from `given` on are 0.
#define GPULUA_COPY(size)                                                                                       \
  GPULUA_PTX(void, cp_async_##size)(char* to, const char* from) { __builtin_memcpy(to, from, size); }           \
  GPULUA_PTX(void, cp_async_##size##_some)(char* to, const char* from, unsigned given) {                        \
    for (unsigned i = 0; i < size; ++i) to[i] = i < given ? from[i] : 0;                                        \
  }
GPULUA_COPY(4)
GPULUA_COPY(8)
GPULUA_COPY(16)
#undef GPULUA_COPY
