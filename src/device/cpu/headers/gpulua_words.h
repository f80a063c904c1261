// Arithmetic on the two halves or four bytes of a word at once: __vadd2, __vadd4 and their kin.
#pragma once
#pragma clang force_cuda_host_device begin

/// The number held to what a lane of `width` bits takes, signed or not.
template <int width>
inline int gpulua_clamp_signed(int x) {
  return min(max(x, -(1 << (width - 1))), (1 << (width - 1)) - 1);
}
template <int width>
inline int gpulua_clamp_unsigned(int x) {
  return min(max(x, 0), (1 << width) - 1);
}

// `x` and `y` are a lane's numbers in int, `width` its bits, `all` a lane of ones.
#define GPULUA_LANES(name, count, T, value)                             \
  inline unsigned int name##count(unsigned int a, unsigned int b) {     \
    constexpr int width = 32 / count;                                   \
    constexpr int all = (1 << width) - 1;                               \
    unsigned int result = 0;                                            \
    for (int place = 0; place < 32; place += width) {                   \
      const int x = (T)(a >> place), y = (T)(b >> place);               \
      result |= ((unsigned int)(value) & (unsigned int)all) << place;   \
    }                                                                   \
    return result;                                                      \
  }
#define GPULUA_SIGNED(name, value) GPULUA_LANES(name, 2, short, value) GPULUA_LANES(name, 4, signed char, value)
#define GPULUA_UNSIGNED(name, value) GPULUA_LANES(name, 2, unsigned short, value) GPULUA_LANES(name, 4, unsigned char, value)
#define GPULUA_BOTH(name, value) GPULUA_SIGNED(name##s, value) GPULUA_UNSIGNED(name##u, value)

GPULUA_UNSIGNED(__vadd, x + y)
GPULUA_UNSIGNED(__vsub, x - y)
GPULUA_SIGNED(__vaddss, gpulua_clamp_signed<width>(x + y))
GPULUA_SIGNED(__vsubss, gpulua_clamp_signed<width>(x - y))
GPULUA_UNSIGNED(__vaddus, gpulua_clamp_unsigned<width>(x + y))
GPULUA_UNSIGNED(__vsubus, gpulua_clamp_unsigned<width>(x - y))
GPULUA_BOTH(__vabsdiff, x > y ? x - y : y - x)
GPULUA_SIGNED(__vavgs, (x + y + (x + y >= 0)) >> 1)
GPULUA_UNSIGNED(__vavgu, (x + y + 1) >> 1)
GPULUA_UNSIGNED(__vhaddu, (x + y) >> 1)
GPULUA_BOTH(__vmin, min(x, y))
GPULUA_BOTH(__vmax, max(x, y))
GPULUA_UNSIGNED(__vcmpeq, x == y ? all : 0)
GPULUA_UNSIGNED(__vcmpne, x != y ? all : 0)
GPULUA_BOTH(__vcmpge, x >= y ? all : 0)
GPULUA_BOTH(__vcmpgt, x > y ? all : 0)
GPULUA_BOTH(__vcmple, x <= y ? all : 0)
GPULUA_BOTH(__vcmplt, x < y ? all : 0)
GPULUA_UNSIGNED(__vseteq, x == y)
GPULUA_UNSIGNED(__vsetne, x != y)
GPULUA_BOTH(__vsetge, x >= y)
GPULUA_BOTH(__vsetgt, x > y)
GPULUA_BOTH(__vsetle, x <= y)
GPULUA_BOTH(__vsetlt, x < y)
#undef GPULUA_BOTH
#undef GPULUA_UNSIGNED
#undef GPULUA_SIGNED
#undef GPULUA_LANES

#define GPULUA_UNARY(count, T)                                                        \
  inline unsigned int __vneg##count(unsigned int a) { return __vsub##count(0, a); }   \
  inline unsigned int __vnegss##count(unsigned int a) { return __vsubss##count(0, a); } \
  inline unsigned int __vabs##count(unsigned int a) { return __vabsdiffs##count(a, 0); } \
  inline unsigned int __vabsss##count(unsigned int a) { return __vmaxs##count(a, __vnegss##count(a)); } \
  inline unsigned int gpulua_lane_sum##count(unsigned int a) {                        \
    unsigned int sum = 0;                                                             \
    for (int place = 0; place < 32; place += 32 / count) sum += (T)(a >> place);      \
    return sum;                                                                       \
  }                                                                                   \
  inline unsigned int __vsads##count(unsigned int a, unsigned int b) { return gpulua_lane_sum##count(__vabsdiffs##count(a, b)); } \
  inline unsigned int __vsadu##count(unsigned int a, unsigned int b) { return gpulua_lane_sum##count(__vabsdiffu##count(a, b)); }
GPULUA_UNARY(2, unsigned short)
GPULUA_UNARY(4, unsigned char)
#undef GPULUA_UNARY
#pragma clang force_cuda_host_device end
