#pragma once

#include <cstdint>

#include "src/base/dtype.h"
#include "src/base/scalar.h"

namespace gpulua {

/// A number that kernels divide whole numbers by (gpulua_divisor of kernels/arithmetic.cuh). The quotient of x, from 0
/// to below 2^(bits - 1), is the upper half of 2 * x * multiplier, shifted right by `shift`.
struct Divisor {
  std::uint64_t multiplier = 0;  // 0: kernels divide by `value`
  std::int64_t value = 0;
  std::int32_t shift = 0;
};

/// `dtype`: one of those that divides_by_number() takes.
Divisor make_divisor(DType dtype, const Scalar& number);

}  // namespace gpulua
