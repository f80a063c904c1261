#include "src/algorithms/small_systems.h"

#include <algorithm>
#include <bit>
#include <string>

#include "src/algorithms/library_kernel.h"

namespace gpulua {

namespace {

// On the CPU device LAPACK is as quick for larger ones, and a compilation is worth it for many matrices only.
constexpr std::int64_t few_rows = 16, many = 512;

std::int64_t rows_of(const Array& matrices) {
  return matrices->layout.shape.back();
}

std::int64_t batch_of(const Array& matrices) {
  const Dims& shape = matrices->layout.shape;
  return matrices->layout.size() / (shape.back() * shape[shape.size() - 2]);
}

/// The lanes for a matrix of n rows.
std::int64_t width_of(std::int64_t n) {
  return std::max<std::int64_t>(4, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n))));
}

bool runs_by_warps(OpenDevice& device) {
  return device.info().block_is_warp;
}

LibraryKernel kernel_for(OpenDevice& device, const std::string& function, DType dtype, std::int64_t n) {
  return {device,
          {"complex.cuh", "small_systems.cuh"},
          function + "<" + device_type(dtype) + ", " + std::to_string(width_of(n)) + ">"};
}

/// `lanes`: those that a matrix has.
void launch(LibraryKernel& kernel, OpenDevice& device, std::int64_t batch, std::int64_t lanes) {
  const unsigned threads = runs_by_warps(device) ? 32 : 128;
  kernel.launch((batch * lanes + threads - 1) / threads, threads);
}

}  // namespace

bool takes_small_systems(const Array& matrices) {
  if (!runs_by_warps(matrices->device())) return rows_of(matrices) <= most_small_rows;
  return rows_of(matrices) <= few_rows && batch_of(matrices) >= many;
}

bool takes_small_symmetric(const Array& matrices) {
  const DType dtype = matrices->dtype;
  const std::int64_t n = rows_of(matrices);
  if (!runs_by_warps(matrices->device())) {
    // A lane has no registers for four longer rows of complex numbers.
    const bool is_complex = info(dtype).kind == DTypeKind::complex;
    return n <= (is_complex ? most_small_rows / 2 : most_small_rows);
  }
  const bool is_single = dtype == DType::float32 || dtype == DType::complex64;
  return n <= (is_single ? few_rows : few_rows / 2) && batch_of(matrices) >= many;
}

Array solve_small(const Array& a, const Array& b, const Array& x) {
  OpenDevice& device = x->device();
  const std::int64_t n = rows_of(a), columns = rows_of(x), batch = batch_of(x);
  const Array failed = empty(device, {batch}, DType::int32);
  LibraryKernel kernel = kernel_for(device, "gpulua_solve_small", a->dtype, n);
  kernel.in(a)
      .in(b, read_pointer(a->dtype))
      .out(x)
      .out(failed)
      .add(batch)
      .add(static_cast<std::int32_t>(n))
      .add(columns)
      .add(batch_of(a) == 1 ? std::int64_t{0} : n * n)
      .add(b && batch_of(b) > 1 ? n * columns : std::int64_t{0});
  launch(kernel, device, batch, width_of(n));
  return failed;
}

Array determinant_small(const Array& a) {
  OpenDevice& device = a->device();
  const std::int64_t n = rows_of(a), batch = batch_of(a);
  Dims shape = a->layout.shape;
  shape.resize(shape.size() - 2);
  const Array out = empty(device, shape, a->dtype);
  LibraryKernel kernel = kernel_for(device, "gpulua_determinant_small", a->dtype, n);
  kernel.in(a).out(out).add(batch).add(static_cast<std::int32_t>(n));
  launch(kernel, device, batch, width_of(n));
  return out;
}

Array cholesky_small(const Array& a, const Array& factor) {
  OpenDevice& device = a->device();
  const std::int64_t n = rows_of(a), batch = batch_of(a);
  const Array failed = empty(device, {batch}, DType::int32);
  LibraryKernel kernel = kernel_for(device, "gpulua_cholesky_small", a->dtype, n);
  kernel.in(a).out(factor).out(failed).add(batch).add(static_cast<std::int32_t>(n));
  launch(kernel, device, batch, width_of(n));
  return failed;
}

void qr_small(const Array& a, const Array& q, const Array& r) {
  OpenDevice& device = a->device();
  const Dims& shape = a->layout.shape;
  const std::int64_t m = shape[shape.size() - 2], n = shape.back(), columns = q->layout.shape.back();
  const std::int64_t size = std::max(m, n), batch = batch_of(a);
  LibraryKernel kernel = kernel_for(device, "gpulua_qr_small", a->dtype, size);
  kernel.in(a)
      .out(q)
      .out(r)
      .add(batch)
      .add(static_cast<std::int32_t>(m))
      .add(static_cast<std::int32_t>(n))
      .add(static_cast<std::int32_t>(columns));
  launch(kernel, device, batch, width_of(size));
}

Array eigen_small(const Array& a, Triangle triangle, const Array& w, const Array& v) {
  OpenDevice& device = a->device();
  const std::int64_t n = rows_of(a), batch = batch_of(a);
  const std::int64_t width = n <= 2 ? 2 : width_of(n);
  const Array failed = empty(device, {batch}, DType::int32);
  LibraryKernel kernel(
      device, {"complex.cuh", "small_systems.cuh", "small_symmetric.cuh"},
      "gpulua_eigen_small<" + device_type(a->dtype) + ", " + std::to_string(width) + (v ? ", true>" : ", false>"));
  kernel.in(a)
      .out(w)
      .out(v, write_pointer(a->dtype))
      .out(failed)
      .add(batch)
      .add(static_cast<std::int32_t>(n))
      .add(static_cast<std::int32_t>(triangle == Triangle::upper));
  launch(kernel, device, batch, width / 2);
  return failed;
}

}  // namespace gpulua
