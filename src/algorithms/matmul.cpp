#include "src/algorithms/matmul.h"
#include "src/expressions/creation.h"
#include "src/expressions/transfer.h"

#include <algorithm>
#include <string>
#include <utility>

#include "src/algorithms/matrix_product.h"
#include "src/array/aliasing.h"
#include "src/array/views.h"
#include "src/base/error.h"
#include "src/expressions/expression.h"
#include "src/ops/op_table.h"
#include "src/ops/promotion.h"
#include "src/ops/reduction_table.h"

namespace gpulua {

namespace {

[[noreturn]] void refuse(const std::string& expected, const std::string& got) {
  throw Error("[matmul] expected {}, got {}", expected, got);
}

/// "(m,k) x (k,n)", with the operands' numbers of axes.
std::string expected_shapes(const Dims& a, const Dims& b) {
  const std::string left = a.size() == 1 ? "(k,)" : a.size() == 2 ? "(m,k)" : "(...,m,k)";
  return left + " x " + (b.size() == 1 ? "(k,)" : b.size() == 2 ? "(k,n)" : "(...,k,n)");
}

/// What may fit in the place of `b`, whose rows differ from the columns of the matrix before it.
std::string advice_for(std::int64_t columns, const Dims& b) {
  if (b.size() < 2) return "";
  if (columns == b.back()) return "; the second transposed, b.T, fits";
  const bool is_square = b.size() == 2 && b[0] == b[1];
  return is_square ? "; gpu.cov(x, {rowvar = false}) and gpu.corrcoef make a matrix of the columns of x" : "";
}

/// The shape of the product, with both axes of its matrices, of operands that have both.
Dims product_shape(const Dims& a, const Dims& b, const Dims& given_a, const Dims& given_b) {
  const auto shapes = [&] { return to_string(given_a) + " x " + to_string(given_b); };
  const std::int64_t columns = a.back(), rows = b[b.size() - 2];
  if (columns != rows) {
    refuse(expected_shapes(given_a, given_b), shapes() + ": " + std::to_string(columns) + " columns meet " +
                                                  std::to_string(rows) + " rows" + advice_for(columns, given_b));
  }
  Dims shape(std::max(a.size(), b.size()), 1);
  for (const Dims* operand : {&a, &b})
    for (std::size_t axis = 0; axis + 2 < operand->size(); ++axis) {
      const std::int64_t extent = (*operand)[axis];
      std::int64_t& common = shape[shape.size() - operand->size() + axis];
      if (common != 1 && extent != 1 && common != extent)
        refuse("leading axes that broadcast, (...,m,k) x (...,k,n)",
               shapes() + ": " + std::to_string(common) + " meets " + std::to_string(extent));
      if (extent != 1) common = extent;
    }
  shape[shape.size() - 2] = a[a.size() - 2];
  shape[shape.size() - 1] = b.back();
  return shape;
}

/// The array as matrices: a vector gets a second axis.
Array as_matrices(Array array, std::size_t new_axis) {
  if (array->layout.ndim() > 1) return array;
  return view(array, expand(array->layout, std::uint64_t{1} << new_axis));
}

/// An operand of a product: for the pending conjugates of a matrix that is stored transposed, the matrix, since a BLAS
/// reads conjugates of transposes in place.
struct Conjugable {
  Array array;
  bool conjugate = false;
};

Conjugable conjugable(Array array) {
  const Pending* const pending = array->pending();
  if (!pending || !pending->op || pending->op->name != "conj" || array->layout.ndim() < 2) return {std::move(array)};
  const Array& input = pending->inputs[0];
  if (input->pending() || input->dtype != array->dtype || info(input->dtype).kind != DTypeKind::complex ||
      input->layout.shape != array->layout.shape)
    return {std::move(array)};
  const std::size_t last = input->layout.ndim() - 1;
  const Dims &shape = input->layout.shape, &strides = input->layout.strides;
  if (strides[last - 1] != 1 || strides[last] < shape[last - 1]) return {std::move(array)};
  return {input, true};
}

/// True when the product of a and b may be written to `out` directly.
bool takes_product(const Array& out, DType dtype, const Dims& shape, Node& a, Node& b) {
  return out && out->layout.shape == shape && out->dtype == dtype && &out->device() == &a.device() && out->contiguous &&
         out->buffer() != a.buffer() && out->buffer() != b.buffer();
}

/// True for a product with a vector, of float32 or float64 on a GPU. It reads the matrix once, as a BLAS does, but
/// fuses with what follows from it, and takes no library.
bool is_sum_of_products(const OpenDevice& device, DType dtype, const Array& a, const Array& b) {
  return !device.info().block_is_warp && (dtype == DType::float32 || dtype == DType::float64) &&
         (a->layout.ndim() == 1 || b->layout.ndim() == 1);
}

Array sum_of_products(const Array& a, const Array& b, DType dtype) {
  const bool is_row = a->layout.ndim() == 1 && b->layout.ndim() > 1;
  Array left = cast(a, dtype);
  const Array right = cast(b, dtype);
  // Each row of a matrix reads the vector.
  if (is_row)
    left = as_matrices(std::move(left), 1);
  else if (a->layout.ndim() > 1)
    evaluate(*right);
  const std::uint64_t axis = std::uint64_t{1} << (is_row ? b->layout.ndim() - 2 : a->layout.ndim() - 1);
  const Operand operands[] = {left, right};
  const Array products = elementwise(op("multiply"), operands);
  return reduce(reducer("sum"), products, axis, false, {dtype, dtype});
}

}  // namespace

Array matmul(const Array& a, const Array& b, const Array& out) {
  const Dims &given_a = a->layout.shape, &given_b = b->layout.shape;
  OpenDevice& device = a->device();
  if (&device != &b->device())
    refuse("arrays of one device", device.name() + " and " + b->device().name() + "; x:to(name) copies one over");
  if (given_a.empty() || given_b.empty())
    refuse("arrays with axes, (...,m,k) x (...,k,n)",
           to_string(given_a) + " x " + to_string(given_b) + "; x * y multiplies by an array of one element");
  const DType dtype = promote(a->dtype, b->dtype);
  Dims shape;
  // Checked before anything is evaluated.
  {
    Dims left = given_a, right = given_b;
    if (left.size() == 1) left.insert(left.begin(), 1);
    if (right.size() == 1) right.push_back(1);
    shape = product_shape(left, right, given_a, given_b);
  }
  Dims result_shape = shape;  // without the axes that vectors lack
  if (given_b.size() == 1) result_shape.pop_back();
  if (given_a.size() == 1) result_shape.erase(result_shape.end() - (given_b.size() == 1 ? 1 : 2));
  const auto finish = [&](Array result) {
    if (!out || result == out) return result;
    assign(out, result, "matmul");
    return out;
  };
  if (given_a.back() == 0 || checked_size(shape, "matmul") == 0) return finish(full(device, result_shape, dtype, 0.0));

  if (is_sum_of_products(device, dtype, a, b)) return finish(sum_of_products(a, b, dtype));

  // float16 and bfloat16, where the BLAS has none.
  const DType computed = multiplies(device, dtype) ? dtype : DType::float32;
  auto [left, conjugate_left] = conjugable(cast(a, computed));
  auto [right, conjugate_right] = conjugable(cast(b, computed));
  const Array result =
      takes_product(out, computed, result_shape, *left, *right) ? out : empty(device, result_shape, computed);
  Array matrices = result;
  if (result_shape.size() != shape.size()) {
    Layout layout = row_major(std::move(shape));
    layout.offset = result->layout.offset;
    matrices = view(result, std::move(layout));
  }
  multiply({as_matrices(std::move(left), 0), as_matrices(std::move(right), 1), std::move(matrices), conjugate_left,
            conjugate_right});
  return finish(cast(result, dtype));
}

}  // namespace gpulua
