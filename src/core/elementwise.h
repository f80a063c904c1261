#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/core/array.h"

namespace gpulua {

/// A scalar parameter of an elementwise kernel.
struct ScalarArgument {
  DType dtype;
  Scalar value;
};

/// Computes every element of `out` by an expression of codegen/elementwise.h. Inputs have out's shape and device, and
/// share no element with it but those at the same index.
void run_elementwise(const Node& out, std::span<const Node* const> inputs, std::span<const ScalarArgument> scalars,
                     const std::string& expression);

}  // namespace gpulua
