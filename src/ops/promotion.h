#pragma once

// Promotion of dtypes: NumPy 2's rules, with bfloat16 beside float16. `real` is the script's default dtype of real
// numbers, float32 or float64 (Context::default_dtype).

#include "src/base/dtype.h"
#include "src/base/scalar.h"
#include "src/ops/op_table.h"

namespace gpulua {

/// The dtype that holds the values of both: int8 and uint8 give int16, int64 and uint64 float64, int16 and float16
/// float32. float16 and bfloat16 meet in float32.
DType promote(DType a, DType b);

/// The dtype of an operation on an array of dtype `array` and a number of the host's. Numbers are weak: they take the
/// array's dtype where they can. A number with a fraction makes `real` of integers; an integer makes int64 of bool.
DType promote_weak(DType array, const Scalar& number, DType real);

/// The dtype in which a function of real numbers computes: `real` for integers and bool.
DType to_floating(DType dtype, DType real);

/// The dtype of the real and imaginary parts of a complex dtype. Another dtype is its own real part.
DType real_part(DType dtype);

/// The dtype of complex numbers whose parts have that floating dtype, at least complex64.
DType complex_of(DType part);

/// The dtype in which an operation computes, and the dtype of its result.
struct OpDTypes {
  DType compute, result;
};
/// For operands whose dtypes promote to `promoted`. Throws Error for dtypes that the operation does not take.
OpDTypes op_dtypes(const OpInfo& op, DType promoted, DType real);

/// The dtype of an array made from the number alone: bool, int64, uint64, `real` or the complex dtype of such parts.
DType dtype_of_number(const Scalar& number, DType real);

/// The dtype of the same kind in double precision: float64 for float32. Others stay.
DType in_double(DType dtype);

}  // namespace gpulua
