#pragma once

// The reductions: one row each, as op_table.h has the elementwise operations.

#include <cstdint>
#include <span>
#include <string_view>

#include "src/base/dtype.h"

namespace gpulua {

struct UserFunction;

/// How the dtype of the elements gives the dtype that the accumulator reads, and that of the result.
enum class ReductionRule : std::uint8_t {
  total,     // integers and bool: 64 bits for both; float16, bfloat16: read as float32; else the dtype itself
  extreme,   // the dtype itself, for both
  position,  // reads the dtype; gives int64, a position in row-major order
  truth,     // bool, for both
  count,     // reads bool; gives int64
};

/// A row. The accumulator is a template of kernels/reduce.cuh over the type that it reads.
struct Reducer {
  std::string_view name;
  std::string_view accumulator;
  ReductionRule rule = ReductionRule::total;
  bool has_identity = true;           // false: a reduction of no elements has no result
  double identity = 0;                // the result for no elements
  std::string_view combine = "";      // the elementwise operation that combines two results; "": there is none
  bool complex = false;               // the accumulator takes complex numbers too
  int passes = 1;                     // over the elements of a row; a variance takes the mean first
  const UserFunction* function = {};  // the accumulator of a script's reduction, which is not in the table
};

std::span<const Reducer> reducer_table();
/// The row with that name. It exists.
const Reducer& reducer(std::string_view name);

/// The row as one with an identity, for a reduction that combines its result with an initial value.
const Reducer& with_identity(const Reducer& row);

/// The dtype that the accumulator reads, and the dtype of the result.
struct ReductionDTypes {
  DType compute, result;
};
/// For elements of `input`.
ReductionDTypes reduction_dtypes(const Reducer& reducer, DType input);

}  // namespace gpulua
