#include "src/algorithms/sparse_factors.h"

namespace gpulua {

std::shared_ptr<SparseFactors> factorise(const Array& entries, const Array& rows, const Array& starts) {
  OpenDevice& device = entries->device();
  device.check_not_captured("factorises a sparse matrix");
  const StreamRef& stream = device.stream();
  SparseColumns matrix{entries->dtype, starts->layout.size() - 1, entries->layout.size()};
  matrix.values = entries->read(stream);
  matrix.rows = reinterpret_cast<const std::int32_t*>(rows->read(stream));
  matrix.starts = reinterpret_cast<const std::int32_t*>(starts->read(stream));
  std::shared_ptr<SparseFactors> factors;
  device.run_library("factorise sparse", *stream,
                     [&] { factors = device.device().sparse_solver().factorise(matrix, *stream); });
  return factors;
}

void solve(SparseFactors& factors, MatrixOp op, const Array& b) {
  OpenDevice& device = b->device();
  device.check_not_captured("solves with the factors of a sparse matrix");
  const StreamRef& stream = device.stream();
  char* const right = b->write(stream);
  device.run_library("solve sparse", *stream, [&] { factors.solve(op, right, b->layout.shape[0], *stream); });
}

}  // namespace gpulua
