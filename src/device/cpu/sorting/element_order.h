#pragma once

// The order of elements, as unsigned numbers that are made from their bits: NaN comes last in both directions, and -0
// equals 0.

#include <limits>
#include <type_traits>

#include "src/base/dtype.h"

namespace gpulua::cpu {

template <class Bits>
class ElementOrder {
 public:
  /// The order of unsigned numbers: each is its own number.
  ElementOrder() = default;
  ElementOrder(DType dtype, bool descending)
      : floating_(info(dtype).kind == DTypeKind::floating),
        always_(floating_ || info(dtype).kind == DTypeKind::signed_integer ? sign : Bits{0}),
        negative_(floating_ ? static_cast<Bits>(~sign) : Bits{0}),
        infinity_(floating_ ? static_cast<Bits>(infinity_bits(dtype)) : std::numeric_limits<Bits>::max()),
        minus_zero_(floating_ ? sign : Bits{0}) {
    if (descending) always_ = static_cast<Bits>(~always_);
  }

  /// The number of an element's bits.
  Bits number(Bits x) const {
    if (is_nan(x)) return std::numeric_limits<Bits>::max();
    return ordinary_number(x == minus_zero_ ? Bits{0} : x);
  }
  /// The same in fewer instructions. Precondition: the element is neither -0 nor NaN.
  Bits ordinary_number(Bits x) const { return static_cast<Bits>(x ^ (sign_of(x) & negative_) ^ always_); }
  /// An element that has this number.
  Bits element(Bits number) const {
    const auto x = static_cast<Bits>(number ^ always_);
    return static_cast<Bits>(x ^ (sign_of(x) & negative_));
  }
  bool is_ordinary(Bits x) const { return !floating_ || (!is_nan(x) && x != minus_zero_); }
  bool is_nan(Bits x) const { return static_cast<Bits>(x & ~sign) > infinity_; }

 private:
  static constexpr Bits sign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));

  /// All bits where the sign bit is set, else none.
  static Bits sign_of(Bits x) {
    return static_cast<Bits>(static_cast<std::make_signed_t<Bits>>(x) >> (8 * sizeof(Bits) - 1));
  }

  bool floating_ = false;
  Bits always_ = 0, negative_ = 0;  // bits that are flipped: in each element, and in those with the sign bit
  Bits infinity_ = std::numeric_limits<Bits>::max(), minus_zero_ = 0;
};

}  // namespace gpulua::cpu
