#pragma once

// Which dtype an operation on several dtypes has: NumPy 2's table, with bfloat16 beside float16.

#include "src/base/dtype.h"
#include "src/base/scalar.h"
#include "src/ops/op_table.h"

namespace gpulua {

/// The dtype that holds the values of both: int8 and uint8 give int16, int64 and uint64 float64, int16 and float16
/// float32. float16 and bfloat16 meet in float32.
DType promote(DType a, DType b);

/// The dtype of an operation on an array of dtype `array` and a number of the host's. Numbers are weak: they take the
/// array's dtype where they can. A number with a fraction makes float32 of integers; an integer makes int64 of bool.
DType promote_weak(DType array, const Scalar& number);

/// The dtype in which a function of real numbers is computed: integers and bool give the default, float32.
DType to_floating(DType dtype);

/// A complex dtype's parts; other dtypes are their own.
DType real_part(DType dtype);

/// What an operation computes in, and gives.
struct OpDTypes {
  DType compute, result;
};
/// For operands whose dtypes promote to `promoted`. Throws Error for dtypes that the operation does not take.
OpDTypes op_dtypes(const OpInfo& op, DType promoted);

/// An array's dtype for a number that stands alone: float32, bool, int64, uint64, complex64.
DType default_dtype(const Scalar& number);

}  // namespace gpulua
