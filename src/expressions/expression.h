#pragma once

// Operations on arrays. They check shapes and dtypes and return pending nodes. Errors are thrown here, not when the
// node is evaluated.

#include <span>
#include <variant>

#include "src/array/array.h"
#include "src/ops/op_table.h"
#include "src/ops/reduction_table.h"

namespace gpulua {

/// An array or a host number. A number takes the dtype of the arrays when it can (promotion.h).
using Operand = std::variant<Array, Scalar>;

/// An operand that the caller holds.
struct OperandView {
  const Array* array = nullptr;  // null: a number
  Scalar number;
};

/// Applies `op` elementwise to operands of shapes that broadcast together. At least one operand is an array. The result
/// of weak arrays and numbers alone is weak, and computed in double precision. Throws Error for shapes or dtypes that
/// do not fit.
Array elementwise(const OpInfo& op, std::span<const OperandView> operands);
Array elementwise(const OpInfo& op, std::span<const Operand> operands);

/// The elements converted to `dtype`, lazily. Returns the array itself if it has that dtype and is not weak.
Array cast(const Array& array, DType dtype);

/// The elements broadcast to `shape`, lazily: a new array, not a view. Throws Error when the shapes do not fit.
Array broadcast(const Array& array, Dims shape);

/// Reduces the axes whose bits are set in `axes`, lazily. With `keepdims` they stay with extent 1. Elements are
/// converted to `dtypes.compute` before the accumulation. Throws Error for an empty reduction without an identity.
Array reduce(const Reducer& reducer, const Array& array, std::uint64_t axes, bool keepdims, ReductionDTypes dtypes);
/// The same with a reducer outside of the table.
Array reduce(std::shared_ptr<const Reducer> reducer, const Array& array, std::uint64_t axes, bool keepdims,
             ReductionDTypes dtypes);

/// A number as a weak array without dimensions, in double precision.
Array weak_constant(OpenDevice& device, const Scalar& value);

/// A pending array with all elements equal to `value`. Throws Error for a number that does not fit the dtype.
Array constant(OpenDevice& device, Dims shape, DType dtype, const Scalar& value);

/// A pending node of `op`. `pending` has the inputs and the dtype of the computation.
Array operation(OpenDevice& device, const OpInfo& op, Dims shape, DType dtype, Pending pending);

/// A pending node on inputs that have been checked.
Array pending_node(OpenDevice& device, DType dtype, Dims&& shape, Pending&& pending);

/// The bit mask of all axes of an array with `ndim` dimensions.
inline std::uint64_t all_axes(std::size_t ndim) {
  return ndim == max_ndim ? ~std::uint64_t{0} : (std::uint64_t{1} << ndim) - 1;
}

/// Throws Error unless the dtype of `out` is of the same kind as `dtype` or a higher one.
void check_takes(const Node& out, DType dtype, const char* op);

/// Writes `value`, the result of `op`, to `out`. Throws Error unless `out` has the same shape and device, and a dtype
/// of the same kind or a higher one.
void assign(const Array& out, Array value, const char* op);

}  // namespace gpulua
