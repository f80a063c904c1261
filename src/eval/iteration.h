#pragma once

// The positions that a kernel goes through, and the strides with which each operand follows. No device.

#include <cstdint>
#include <vector>

#include "src/array/layout.h"
#include "src/codegen/kernel_spec.h"

namespace gpulua {

/// Axes with a stride for each operand.
struct Iteration {
  Dims shape;
  std::vector<Dims> strides;  // of each operand, one for each axis

  std::int64_t size() const;
  /// The axes in the order in which this operand's elements lie in memory.
  void follow(std::size_t operand);
  /// Axes of extent 1 dropped, adjacent axes joined where every operand allows it; at least one axis is left.
  void collapse();
};

/// How an operand with these strides moves along an iteration.
Access access(const Dims& strides);

/// The farthest that an operand with these strides moves from its first element.
std::int64_t reach(const Dims& shape, const Dims& strides);

}  // namespace gpulua
