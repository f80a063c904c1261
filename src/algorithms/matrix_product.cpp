#include "src/algorithms/matrix_product.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "src/algorithms/library_kernel.h"
#include "src/algorithms/matrix_operand.h"
#include "src/array/evaluator.h"
#include "src/expressions/expression.h"
#include "src/expressions/transfer.h"
#include "src/runtime/context.h"

namespace gpulua {

namespace {

/// True when a single stride per operand, as a BLAS takes it, covers the batch.
bool has_strides(const Batch& batch) {
  return batch.empty() || (batch.size() == 1 && batch[0].a >= 0 && batch[0].b >= 0 && batch[0].c > 0);
}

/// The addresses of the three operands of each product of a batch, where strides do not give them.
struct Addresses {
  Array a, b, c;
  const char *a_memory = nullptr, *b_memory = nullptr, *c_memory = nullptr;

  Addresses() = default;
  Addresses(OpenDevice& device, const Batch& batch, std::size_t itemsize, const char* first_a, const char* first_b,
            const char* first_c)
      : a(addresses(device, batch, first_a, itemsize, &BatchAxis::a)),
        b(addresses(device, batch, first_b, itemsize, &BatchAxis::b)),
        c(addresses(device, batch, first_c, itemsize, &BatchAxis::c)) {
    Node* const nodes[] = {a.get(), b.get(), c.get()};
    evaluate(nodes);
    a_memory = a->read(device.stream()), b_memory = b->read(device.stream()), c_memory = c->read(device.stream());
  }
};

// ---- by the BLAS ----------------------------------------------------------------------------------------------------

/// Turns a batch of products with one B for all into a single product with more rows, if the rows of all A are equally
/// far apart.
void join_rows(GemmProblem& problem) {
  if (problem.batch == 1 || problem.stride_b != 0 || problem.op_a != MatrixOp::plain) return;
  if (problem.m == 1 && problem.stride_a >= problem.k) {
    problem.lda = problem.stride_a;
    problem.ldc = problem.stride_c;
  } else if (problem.stride_a != problem.m * problem.lda || problem.stride_c != problem.m * problem.ldc) {
    return;
  }
  problem.m *= problem.batch;
  problem.batch = 1;
}

/// The problem for one product of operands as a BLAS takes them, without their addresses.
GemmProblem problem_of(const MatrixProduct& product, const MatrixOperand& a, const MatrixOperand& b) {
  const Context& context = product.c->device().context();
  const Layout& c = product.c->layout;
  const std::size_t last = c.ndim() - 1;
  GemmProblem problem;
  problem.dtype = product.c->dtype;
  problem.op_a = a.op;
  problem.op_b = b.op;
  problem.m = c.shape[last - 1];
  problem.n = c.shape[last];
  problem.k = a.array->layout.shape.back();
  problem.alpha = product.alpha;
  problem.beta = product.beta;
  problem.tf32 = context.tf32;
  problem.emulated = context.emulated_float64;
  problem.lda = a.leading_dimension;
  problem.ldb = b.leading_dimension;
  problem.ldc = problem.m == 1 ? problem.n : c.strides[last - 1];
  return problem;
}

/// The most calls for a batch that a single stride per operand does not cover.
constexpr std::int64_t few_calls = 8;

/// True when the BLAS takes addresses of matrices that are aligned to their elements alone. cuBLAS asks for more where
/// it multiplies on tensor cores.
bool takes_addresses(const GemmProblem& problem) {
  return size_of(problem.dtype) >= 4 && !problem.tf32;
}

/// Calls the BLAS for each batch along the longest axis, which has strides that a BLAS takes.
void multiply_along(Blas& blas, GemmProblem problem, const BatchAxis& along, const Batch& outer, std::size_t itemsize,
                    Stream& stream) {
  const auto* const a = static_cast<const char*>(problem.a);
  const auto* const b = static_cast<const char*>(problem.b);
  auto* const c = static_cast<char*>(problem.c);
  problem.batch = along.extent;
  problem.stride_a = along.a, problem.stride_b = along.b, problem.stride_c = along.c;
  join_rows(problem);
  const auto bytes = static_cast<std::int64_t>(itemsize);
  for (std::int64_t call = 0, calls = count_of(outer); call < calls; ++call) {
    std::int64_t rest = call, to_a = 0, to_b = 0, to_c = 0;
    for (const BatchAxis& axis : outer) {
      const std::int64_t at = rest % axis.extent;
      rest /= axis.extent;
      to_a += at * axis.a, to_b += at * axis.b, to_c += at * axis.c;
    }
    problem.a = a + to_a * bytes;
    problem.b = b + to_b * bytes;
    problem.c = c + to_c * bytes;
    blas.gemm(problem, stream);
  }
}

void multiply_by_blas(const MatrixProduct& product) {
  OpenDevice& device = product.c->device();
  const MatrixOperand a = matrix_operand(product.a, product.conjugate_a);
  const MatrixOperand b = matrix_operand(product.b, product.conjugate_b);
  const Batch batch = batch_of(a.array->layout, b.array->layout, product.c->layout);
  const StreamRef& stream = device.stream();
  GemmProblem problem = problem_of(product, a, b);
  Uses uses(device);
  const char* const first_a = uses.in(a.array);
  const char* const first_b = uses.in(b.array);
  char* const first_c = uses.in_out(product.c);

  Batch outer = batch;
  BatchAxis along{1, 0, 0, 0};
  BatchAxis* longest = nullptr;
  for (BatchAxis& axis : outer)
    if (axis.a >= 0 && axis.b >= 0 && axis.c > 0 && (!longest || axis.extent > longest->extent)) longest = &axis;
  if (longest) {
    along = *longest;
    outer.erase(outer.begin() + (longest - outer.data()));
  }
  if (count_of(outer) <= few_calls || !takes_addresses(problem)) {
    problem.a = first_a;
    problem.b = first_b;
    problem.c = first_c;
    device.run_library("gemm", *stream, [&] {
      multiply_along(device.device().blas(), problem, along, outer, product.c->itemsize(), *stream);
    });
  } else {
    const Addresses of_each(device, batch, product.c->itemsize(), first_a, first_b, first_c);
    problem.batch = count_of(batch);
    problem.a_addresses = reinterpret_cast<const void* const*>(of_each.a_memory);
    problem.b_addresses = reinterpret_cast<const void* const*>(of_each.b_memory);
    problem.c_addresses = reinterpret_cast<void* const*>(const_cast<char*>(of_each.c_memory));
    device.run_library("gemm", *stream, [&] { device.device().blas().gemm(problem, *stream); });
  }
}

/// The operands in one form: as they are if they have it, else row-major.
std::vector<MatrixOperand> uniform_operands(std::span<const MatrixProduct> products, Array MatrixProduct::*which,
                                            bool conjugate) {
  std::vector<MatrixOperand> operands;
  for (const MatrixProduct& product : products) operands.push_back(matrix_operand(product.*which, conjugate));
  const bool uniform = std::ranges::all_of(operands, [&](const MatrixOperand& operand) {
    return operand.op == operands[0].op && operand.leading_dimension == operands[0].leading_dimension;
  });
  if (uniform) return operands;
  for (MatrixOperand& operand : operands) {
    if (operand.op == MatrixOp::conjugated) {
      const Operand conjugated[] = {operand.array};
      operand.array = elementwise(op("conj"), conjugated);
    }
    operand = {contiguous(operand.array), MatrixOp::plain, operand.array->layout.shape.back()};
  }
  return operands;
}

// ---- by our kernel --------------------------------------------------------------------------------------------------

/// A matrix that our kernel goes through: the distances of neighbours in a column, and in a row.
struct Steps {
  std::int64_t row, column;
};

Steps steps_of(const Layout& layout) {
  return {layout.strides[layout.ndim() - 2], layout.strides[layout.ndim() - 1]};
}

void multiply_by_kernel(const MatrixProduct& product) {
  OpenDevice& device = product.c->device();
  // A core adds up neighbouring columns in one vector; a GPU's block has a square tile.
  const bool by_rows = device.info().block_is_warp;
  const Array& a = product.a;
  const Array b = by_rows && steps_of(product.b->layout).column != 1 ? copy(product.b) : product.b;
  const Layout& c = product.c->layout;
  const Batch batch = batch_of(a->layout, b->layout, c);
  const std::int64_t m = c.shape[c.ndim() - 2], n = c.shape[c.ndim() - 1];
  const std::int64_t tile_rows = by_rows ? 8 : 64, tile_columns = by_rows ? 32 : 64;
  const std::int64_t tiles = ((m + tile_rows - 1) / tile_rows) * ((n + tile_columns - 1) / tile_columns);
  const StreamRef& stream = device.stream();
  Addresses of_each;
  BatchAxis axis{1, 0, 0, 0};
  if (!has_strides(batch))
    of_each =
        Addresses(device, batch, product.c->itemsize(), a->read(stream), b->read(stream), product.c->write(stream));
  else if (!batch.empty())
    axis = batch[0];
  const Steps of_a = steps_of(a->layout), of_b = steps_of(b->layout), of_c = steps_of(c);
  LibraryKernel(device, {"matmul.cuh"},
                std::string(by_rows ? "gpulua_matmul_rows<" : "gpulua_matmul_tiles<") + device_type(a->dtype) + ">")
      .in(a)
      .in(b)
      .out(product.c)
      .add(m)
      .add(n)
      .add(a->layout.shape[a->layout.ndim() - 1])
      .add(of_a.row)
      .add(of_a.column)
      .add(of_b.row)
      .add(of_b.column)
      .add(of_c.row)
      .add(axis.a)
      .add(axis.b)
      .add(axis.c)
      .in(of_each.a, "const long long*")
      .in(of_each.b, "const long long*")
      .in(of_each.c, "const long long*")
      .launch(tiles * count_of(batch), by_rows ? 32 : 256);
}

bool is_whole(DType dtype) {
  return is_integer(dtype) || dtype == DType::boolean;
}

}  // namespace

bool multiplies(OpenDevice& device, DType dtype) {
  return is_whole(dtype) || device.device().blas().takes(dtype);
}

void multiply_each(std::span<const MatrixProduct> products) {
  const MatrixProduct& first = products[0];
  if (size_of(first.c->dtype) < 4 || first.c->device().context().tf32) {  // as takes_addresses() says
    for (const MatrixProduct& product : products) multiply(product);
    return;
  }
  OpenDevice& device = first.c->device();
  const StreamRef& stream = device.stream();
  const std::vector<MatrixOperand> a = uniform_operands(products, &MatrixProduct::a, first.conjugate_a);
  const std::vector<MatrixOperand> b = uniform_operands(products, &MatrixProduct::b, first.conjugate_b);
  // The addresses of all A, then of all B, then of all C.
  const std::size_t count = products.size();
  std::vector<const char*> host(3 * count);
  for (std::size_t i = 0; i < count; ++i) {
    Uses uses(device);
    host[i] = uses.in(a[i].array);
    host[count + i] = uses.in(b[i].array);
    host[2 * count + i] = uses.in_out(products[i].c);
  }
  const Array on_device = empty(device, {static_cast<std::int64_t>(host.size())}, DType::int64);
  upload(*on_device, host.data());
  const auto* const all = reinterpret_cast<const void* const*>(on_device->read(stream));
  GemmProblem problem = problem_of(first, a[0], b[0]);
  problem.batch = static_cast<std::int64_t>(count);
  problem.a_addresses = all;
  problem.b_addresses = all + count;
  problem.c_addresses = const_cast<void* const*>(all + 2 * count);
  device.run_library("gemm", *stream, [&] { device.device().blas().gemm(problem, *stream); });
}

void multiply(const MatrixProduct& product) {
  if (is_whole(product.c->dtype)) return multiply_by_kernel(product);
  multiply_by_blas(product);
}

}  // namespace gpulua
