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

/// A lane has no registers for more complex numbers of four rows.
std::int64_t most_rotated_rows(DType dtype) {
  return info(dtype).kind == DTypeKind::complex ? most_small_rows / 2 : most_small_rows;
}

/// The least power of 2 that is not less than n, nor than `least`.
std::int64_t width_of(std::int64_t n, std::int64_t least = 4) {
  return std::max(least, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n))));
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
  const std::int64_t n = rows_of(matrices);
  if (!runs_by_warps(matrices->device())) return n <= most_rotated_rows(matrices->dtype);
  const bool is_single = matrices->dtype == DType::float32 || matrices->dtype == DType::complex64;
  return n <= (is_single ? few_rows : few_rows / 2) && batch_of(matrices) >= many;
}

bool takes_small_singular(const Array& matrices) {
  const Dims& shape = matrices->layout.shape;
  const auto [least, most] = std::minmax(shape[shape.size() - 2], shape.back());
  if (!runs_by_warps(matrices->device())) return most <= most_rotated_rows(matrices->dtype);
  const bool is_wide = matrices->dtype == DType::complex128;
  return most <= most_small_rows && least <= (is_wide ? few_rows / 2 : few_rows) && batch_of(matrices) >= many;
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
  const std::int64_t width = width_of(n, 2);
  const Array failed = empty(device, {batch}, DType::int32);
  LibraryKernel kernel(
      device, {"complex.cuh", "small_systems.cuh", "small_jacobi.cuh"},
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

Array singular_small(const Array& a, const Array& s) {
  OpenDevice& device = a->device();
  const Dims& shape = a->layout.shape;
  const std::int64_t m = shape[shape.size() - 2], n = shape.back(), batch = batch_of(a);
  // The transpose has the same singular values.
  const std::int64_t rows = std::max(m, n), columns = std::min(m, n), width = width_of(columns, 2);
  const Array failed = empty(device, {batch}, DType::int32);
  LibraryKernel kernel(device, {"complex.cuh", "small_systems.cuh", "small_jacobi.cuh"},
                       "gpulua_singular_small<" + device_type(a->dtype) + ", " + std::to_string(width_of(rows, 2)) +
                           ", " + std::to_string(width) + ">");
  kernel.in(a).out(s).out(failed).add(batch);
  for (const std::int64_t extent : {rows, columns, m < n ? 1 : n, m < n ? n : 1})
    kernel.add(static_cast<std::int32_t>(extent));
  launch(kernel, device, batch, width / 2);
  return failed;
}

}  // namespace gpulua
