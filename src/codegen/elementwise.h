#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/core/dtype.h"

namespace gpulua {

/// A kernel that computes every element of one output from the elements of its inputs at the same index.
struct ElementwiseSpec {
  DType out;
  std::vector<DType> inputs;   // in0, in1, ... in the expression; each has the output's shape
  std::vector<DType> scalars;  // s0, s1, ...: parameters by value
  std::string expression;      // CUDA C++ over those and `i`, the row-major position; converted to `out`
  std::size_t ndim = 1;        // 1 or more
  bool wide = false;           // positions past 2^31
};

/// The kernel's name in the text that emit() gives.
inline constexpr const char* elementwise_kernel_name = "gpulua_elementwise";

/// CUDA C++ for both devices. Its kernel takes: the number of elements (long long), the shape (gpulua_dims<ndim>), then
/// a pointer and the strides of the output and of each input, then the scalars.
std::string emit(const ElementwiseSpec& spec);

}  // namespace gpulua
