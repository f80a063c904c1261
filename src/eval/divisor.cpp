#include "src/eval/divisor.h"

#include <bit>

namespace gpulua {

// Granlund and Montgomery, "Division by Invariant Integers using Multiplication", 1994. With bits = N and
// 2^(shift - 1) < d <= 2^shift, the multiplier is m = 2^(N - 1 + shift) / d, rounded up by less than 1. Then
// x * m / 2^(N - 1 + shift) exceeds x / d by less than x / 2^(N - 1 + shift), which is less than 1 / d.
Divisor make_divisor(DType dtype, const Scalar& number) {
  std::int64_t value = 0;
  encode(DType::int64, number, &value);
  Divisor divisor;
  divisor.value = value;
  if (value <= 0) return divisor;
  __extension__ using Wide = unsigned __int128;
  const auto d = static_cast<std::uint64_t>(value);
  const int bits = dtype == DType::int64 ? 64 : 32;
  divisor.shift = std::bit_width(d - 1);
  divisor.multiplier = static_cast<std::uint64_t>(((Wide{1} << (bits - 1 + divisor.shift)) + d - 1) / d);
  return divisor;
}

}  // namespace gpulua
