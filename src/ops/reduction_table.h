#pragma once

// The reductions: one row each, as op_table.h has the elementwise operations.

#include <span>
#include <string_view>

#include "src/base/dtype.h"

namespace gpulua {

struct UserFunction;

/// A row. The accumulator is a template of kernels/reduce.cuh over the type that it reads.
struct Reducer {
  std::string_view name;
  std::string_view accumulator;
  bool has_identity = true;  // false: there is no result for no elements
  bool gives_position = false;
  const UserFunction* function = nullptr;  // not of the table: the accumulator is a script's
};

std::span<const Reducer> reducer_table();
/// The row of that name, which there is.
const Reducer& reducer(std::string_view name);

/// The dtypes of a reduction of elements of `input`: what the accumulator reads, and the result.
struct ReductionDTypes {
  DType compute, result;
};
ReductionDTypes reduction_dtypes(const Reducer& reducer, DType input);

}  // namespace gpulua
