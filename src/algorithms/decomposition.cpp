#include "src/algorithms/decomposition.h"

#include <algorithm>
#include <string>

#include "src/algorithms/library_kernel.h"
#include "src/array/evaluator.h"
#include "src/expressions/creation.h"
#include "src/expressions/expression.h"

namespace gpulua {

namespace {

/// The extents of the matrices in an array, in columns.
struct Extents {
  std::int64_t rows = 0, columns = 0;
};

Extents extents_of(const Array& matrices) {
  const Dims& shape = matrices->layout.shape;
  return {shape.back(), shape[shape.size() - 2]};
}

/// The problem without addresses.
SolverProblem problem_of(const Decomposition& from) {
  const Extents a = extents_of(from.a);
  SolverProblem problem;
  problem.routine = from.routine;
  problem.dtype = from.a->dtype;
  problem.op = from.op;
  problem.triangle = from.triangle;
  problem.vectors = from.vectors;
  problem.full = from.full;
  problem.m = a.rows;
  problem.n = from.routine == SolverRoutine::lu_solve ? extents_of(from.b).columns : a.columns;
  problem.k =
      from.routine == SolverRoutine::orthogonal ? from.values->layout.shape.back() : std::min(problem.m, problem.n);
  problem.batch = from.a->layout.size() / (a.rows * a.columns);
  return problem;
}

/// The addresses of the matrices of a batch, evaluated.
Array addresses_of(const Array& matrices, std::int64_t batch, const char* first) {
  const auto step = static_cast<double>(matrices->nbytes()) / static_cast<double>(batch);
  // Addresses are below 2^53.
  const auto start = static_cast<double>(reinterpret_cast<std::uintptr_t>(first));
  const Evaluator::OwnNumbers own(matrices->device().evaluator());
  Array list = range(matrices->device(), {batch}, DType::int64, start, step);
  evaluate(*list);
  return list;
}

/// Adds a result, which may be null, as components of complex numbers, or as it is, and their number in one matrix.
void add_components(LibraryKernel& kernel, const Array& result, std::int64_t batch, const std::string& pointer) {
  const bool is_complex = result && info(result->dtype).kind == DTypeKind::complex;
  kernel.in_out(result, pointer).add(result ? result->layout.size() / batch * (is_complex ? 2 : 1) : std::int64_t{0});
}

}  // namespace

Array decompose(Decomposition& from) {
  OpenDevice& device = from.a->device();
  const StreamRef& stream = device.stream();
  Solver& solver = device.device().solver();
  SolverProblem problem = problem_of(from);
  const SolverNeeds needs = solver.needs(problem, *stream);
  from.right_in_columns = needs.right_in_columns;
  if (from.routine == SolverRoutine::lu) from.pivots = empty(device, {problem.batch * problem.k}, needs.pivots);
  if (from.routine == SolverRoutine::lu_solve) from.pivots = cast(from.pivots, needs.pivots);
  const Array result = empty(device, {problem.batch}, DType::int32);
  const BufferRef workspace = new_buffer(device, needs.workspace);

  Uses uses(device);
  problem.a = from.routine == SolverRoutine::lu_solve ? uses.in(from.a) : uses.in_out(from.a);
  problem.pivots = from.routine == SolverRoutine::lu_solve ? uses.in(from.pivots) : uses.out(from.pivots);
  problem.b = uses.in_out(from.b);
  problem.c = uses.in_out(from.c);
  problem.values = uses.in_out(from.values);
  problem.info = reinterpret_cast<std::int32_t*>(uses.out(result));
  constexpr std::int32_t nothing_wrong = 0;
  device.fill(problem.info, &nothing_wrong, sizeof nothing_wrong, static_cast<std::size_t>(problem.batch), *stream);
  problem.workspace = workspace->write(stream);
  problem.workspace_bytes = needs.workspace;
  Array a_addresses, b_addresses;
  if (needs.addresses) {
    a_addresses = addresses_of(from.a, problem.batch, static_cast<char*>(problem.a));
    problem.a_addresses = reinterpret_cast<void* const*>(a_addresses->read(stream));
    if (from.b) {
      b_addresses = addresses_of(from.b, problem.batch, static_cast<char*>(problem.b));
      problem.b_addresses = reinterpret_cast<void* const*>(b_addresses->read(stream));
    }
  }
  device.run_library("decompose", *stream, [&] { solver.run(problem, *stream); });
  return result;
}

Array permutation(const Array& pivots, std::int64_t m) {
  OpenDevice& device = pivots->device();
  Dims shape = pivots->layout.shape;
  const std::int64_t k = shape.back();
  shape.back() = m;
  const Array rows = empty(device, shape, DType::int32);
  if (rows->layout.size() == 0) return rows;
  const std::int64_t batch = rows->layout.size() / m;
  LibraryKernel(device, {"indexed.cuh", "decompositions.cuh"}, "gpulua_permutation")
      .in(pivots)
      .out(rows)
      .add(batch)
      .add(k)
      .add(m)
      .launch((batch + 31) / 32, 32);
  return rows;
}

void check_decomposition(const char* op, FaultKind kind, const Array& info_array, const Array& values,
                         std::span<const Array> results) {
  OpenDevice& device = info_array->device();
  const std::int64_t batch = info_array->layout.size();
  const DType component = size_of(results[0]->dtype) == (info(results[0]->dtype).kind == DTypeKind::complex ? 16U : 8U)
                              ? DType::float64
                              : DType::float32;
  LibraryKernel kernel(device, {"indexed.cuh", "decompositions.cuh"},
                       "gpulua_check_decomposition<" + device_type(component) + ">");
  kernel.in(info_array).add(batch).add(static_cast<std::int32_t>(kind));
  add_components(kernel, values, batch, read_pointer(component));
  for (std::size_t i = 0; i < 3; ++i)
    add_components(kernel, i < results.size() ? results[i] : nullptr, batch, write_pointer(component));
  kernel.add_fault(op);
  kernel.launch((batch + 31) / 32, 32);
}

}  // namespace gpulua
