#pragma once

// The positions that a kernel visits, and the strides of each operand.

#include <cstdint>
#include <vector>

#include "src/array/layout.h"
#include "src/codegen/kernel_spec.h"

namespace gpulua {

/// Axes, and the stride of each operand along each axis.
struct Iteration {
  Dims shape;
  std::vector<Dims> strides;   // of each operand, one stride for each axis
  std::vector<Dims> shifts{};  // the same of rolled operands, 0 for others; empty: there are none

  std::int64_t size() const;
  /// Sorts the axes by the order in which this operand's elements lie in memory.
  void follow(std::size_t operand);
  /// Drops axes of extent 1 and joins adjacent axes where every operand allows it. At least one axis remains.
  void collapse();
};

/// How an operand with these strides moves along an iteration.
Access access(const Dims& strides);

/// The largest distance, in elements, of an operand with these strides from its first element.
std::int64_t reach(const Dims& shape, const Dims& strides);

}  // namespace gpulua
