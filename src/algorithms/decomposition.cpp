#include "src/algorithms/decomposition.h"

#include <algorithm>
#include <array>
#include <string>

#include "src/algorithms/library_kernel.h"
#include "src/array/evaluator.h"
#include "src/expressions/creation.h"
#include "src/expressions/expression.h"
#include "src/runtime/context.h"

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
  Array list = range(matrices->device(), {batch}, DType::int64, start, step);
  evaluate(*list);
  return list;
}

/// A result as components of complex numbers, or as it is.
struct Components {
  char* first = nullptr;
  std::int64_t count = 0;  // of one matrix
};

Components components_of(const Array& result, std::int64_t batch, const StreamRef& stream) {
  const bool is_complex = info(result->dtype).kind == DTypeKind::complex;
  return {result->write(stream), result->layout.size() / batch * (is_complex ? 2 : 1)};
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
  if (from.routine == SolverRoutine::lu_solve) {
    from.pivots = cast(from.pivots, needs.pivots);
    evaluate(*from.pivots);
  }
  const Array result = empty(device, {problem.batch}, DType::int32);
  const BufferRef workspace = new_buffer(device, needs.workspace);

  problem.a = from.routine == SolverRoutine::lu_solve ? from.a->read(stream) : from.a->write(stream);
  if (from.b) problem.b = from.b->write(stream);
  if (from.c) problem.c = from.c->write(stream);
  if (from.values) problem.values = from.values->write(stream);
  if (from.pivots) problem.pivots = from.pivots->write(stream);
  problem.info = reinterpret_cast<std::int32_t*>(result->write(stream));
  constexpr std::int32_t nothing_wrong = 0;
  device.device().fill(problem.info, &nothing_wrong, sizeof nothing_wrong, static_cast<std::size_t>(problem.batch),
                       *stream);
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
  solver.run(problem, *stream);
  for (const Array& other : {from.b, from.c, from.values, from.pivots, result})
    if (other) other->buffer()->depend_on(*from.a->buffer());
  return result;
}

Array permutation(const Array& pivots, std::int64_t m) {
  OpenDevice& device = pivots->device();
  const StreamRef& stream = device.stream();
  Dims shape = pivots->layout.shape;
  const std::int64_t k = shape.back();
  shape.back() = m;
  const Array rows = empty(device, shape, DType::int32);
  if (rows->layout.size() == 0) return rows;
  const std::int64_t batch = rows->layout.size() / m;
  LibraryKernel(device, {"indexed.cuh", "decompositions.cuh"}, "gpulua_permutation")
      .add("const int*", pivots->read(stream))
      .add("int*", rows->write(stream))
      .add(batch)
      .add(k)
      .add(m)
      .launch((batch + 31) / 32, 32);
  rows->buffer()->depend_on(*pivots->buffer());
  return rows;
}

void check_decomposition(const char* op, FaultKind kind, const Array& info_array, const Array& values,
                         std::span<const Array> results) {
  OpenDevice& device = info_array->device();
  const StreamRef& stream = device.stream();
  evaluate(*info_array);
  const std::int64_t batch = info_array->layout.size();
  const DType component = size_of(results[0]->dtype) == (info(results[0]->dtype).kind == DTypeKind::complex ? 16U : 8U)
                              ? DType::float64
                              : DType::float32;
  const Components of_values = values ? components_of(values, batch, stream) : Components{};
  std::array<Components, 3> parts;
  for (std::size_t i = 0; i < results.size(); ++i) parts[i] = components_of(results[i], batch, stream);
  Host* const host = device.context().host();
  const Origin origin = host ? host->origin() : Origin{};
  IndexFaults::Watch watch = device.index_faults().watch(stream);
  LibraryKernel kernel(device, {"indexed.cuh", "decompositions.cuh"},
                       "gpulua_check_decomposition<" + device_type(component) + ">");
  kernel.add("const int*", info_array->read(stream))
      .add(batch)
      .add(static_cast<std::int32_t>(kind))
      .add(read_pointer(component), of_values.first)
      .add(of_values.count);
  for (const Components& part : parts) kernel.add(write_pointer(component), part.first).add(part.count);
  kernel.add("gpulua_index_fault*", watch.word)
      .add("const void*", origin.chunk)
      .add(std::int64_t{origin.line})
      .add("const void*", device.index_faults().lasting(op))
      .launch((batch + 31) / 32, 32);
  for (const Array& result : results) result->buffer()->depend_on(watch.check);
  if (values) values->buffer()->depend_on(watch.check);
}

}  // namespace gpulua
