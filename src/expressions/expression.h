#pragma once

// Operations on arrays: they check shapes and dtypes and give pending nodes. Errors are raised here, not when the node
// is evaluated.

#include <span>
#include <variant>

#include "src/array/array.h"
#include "src/ops/op_table.h"
#include "src/ops/reduction_table.h"

namespace gpulua {

/// An array, or a number of the host's, which takes the arrays' dtype where it can (promotion.h).
using Operand = std::variant<Array, Scalar>;

/// The elementwise operation on operands that broadcast together, at least one of which is an array.
Array elementwise(const OpInfo& op, std::span<const Operand> operands);

/// The array's elements as another dtype, lazily. The array itself if it has that dtype.
Array cast(const Array& array, DType dtype);

/// The array's elements broadcast to the shape, lazily: a new array, not a view. Throws Error where they do not fit.
Array broadcast(const Array& array, Dims shape);

/// The axes set in `axes` reduced to one element each; they stay with extent 1 when `keepdims`. The accumulator reads
/// the elements as `dtypes.compute`.
Array reduce(const Reducer& reducer, const Array& array, std::uint64_t axes, bool keepdims, ReductionDTypes dtypes);
/// The same by a reducer that is not of the table.
Array reduce(std::shared_ptr<const Reducer> reducer, const Array& array, std::uint64_t axes, bool keepdims,
             ReductionDTypes dtypes);

/// The same number everywhere.
Array constant(const std::shared_ptr<OpenDevice>& device, Dims shape, DType dtype, const Scalar& value);

/// The operation with the inputs, and computed in the dtype, that `pending` has.
Array operation(const std::shared_ptr<OpenDevice>& device, const OpInfo& op, Dims shape, DType dtype, Pending pending);

/// An operation on inputs that have been checked.
Array pending_node(const std::shared_ptr<OpenDevice>& device, DType dtype, Dims shape, Pending pending);

/// The axes of an array of so many dimensions, all of them set.
inline std::uint64_t all_axes(std::size_t ndim) {
  return ndim == max_ndim ? ~std::uint64_t{0} : (std::uint64_t{1} << ndim) - 1;
}

/// Writes `value`, the result of `op`, to `out`, which has its shape and a dtype of its kind or a higher one.
void assign(const Array& out, Array value, const char* op);

/// The shape that the shapes broadcast to. Throws Error with the two that do not fit.
Dims broadcast_shapes(std::string_view op, std::span<const Dims* const> shapes);

}  // namespace gpulua
