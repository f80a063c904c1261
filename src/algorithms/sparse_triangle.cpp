#include "src/algorithms/sparse_triangle.h"

#include <complex>
#include <vector>

#include "src/base/error.h"
#include "src/expressions/transfer.h"

namespace gpulua {

namespace {

template <class T>
std::vector<T> on_host(const Array& array) {
  std::vector<T> elements(static_cast<std::size_t>(array->layout.size()));
  if (!elements.empty()) download(*array, elements.data());
  return elements;
}

template <class T>
SparsePosition substitute(const SparseTriangle& triangle, const Array& b) {
  const auto entries = on_host<T>(triangle.rows.entries);
  const auto places = on_host<std::int64_t>(triangle.rows.places), starts = on_host<std::int64_t>(triangle.rows.starts);
  const std::int64_t n = triangle.rows.count(), sides = b->layout.shape[0];
  std::vector<T> x = on_host<T>(b);
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t row = triangle.lower ? step : n - 1 - step;
    T diagonal = triangle.unit_diagonal ? T(1) : T(0);
    for (std::int64_t i = starts[row]; i < starts[row + 1]; ++i) {
      const std::int64_t column = places[i];
      if (column == row) {
        if (!triangle.unit_diagonal) diagonal = entries[i];
        continue;
      }
      if ((column < row) != triangle.lower) return {row + 1, column + 1};
      for (std::int64_t side = 0; side < sides; ++side) x[side * n + row] -= entries[i] * x[side * n + column];
    }
    if (diagonal == T(0)) return {row + 1, row + 1};
    for (std::int64_t side = 0; side < sides; ++side) x[side * n + row] /= diagonal;
  }
  upload(*b, x.data());
  return {};
}

}  // namespace

SparsePosition solve_triangle(const SparseTriangle& triangle, const Array& b) {
  switch (b->dtype) {
    case DType::float32:
      return substitute<float>(triangle, b);
    case DType::float64:
      return substitute<double>(triangle, b);
    case DType::complex64:
      return substitute<std::complex<float>>(triangle, b);
    default:
      return substitute<std::complex<double>>(triangle, b);
  }
}

}  // namespace gpulua
