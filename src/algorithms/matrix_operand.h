#pragma once

// Matrices, and batches of matrices, as a BLAS takes them. The last two axes of an array are a matrix's, the axes
// before them the batch's.

#include <boost/container/small_vector.hpp>

#include "src/array/array.h"

namespace gpulua {

/// A matrix, or a batch of matrices, with the parameters that a BLAS needs.
struct MatrixOperand {
  Array array;
  MatrixOp op;
  std::int64_t leading_dimension;
};

/// The array itself where a BLAS can read its matrices, else a copy. `conjugate`: the operand has the conjugates of its
/// elements.
MatrixOperand matrix_operand(const Array& array, bool conjugate);

/// True when the columns of the array's matrices are neighbours, and the rows do not overlap: a BLAS can write them.
bool is_row_major(const Layout& layout);

/// An axis of the batch: its extent, and the strides of the three operands.
struct BatchAxis {
  std::int64_t extent, a, b, c;
};
using Batch = boost::container::small_vector<BatchAxis, 4>;

/// The axes of the batch of c, to which those of a and b broadcast. Axes that a single stride per operand covers are
/// joined.
Batch batch_of(const Layout& a, const Layout& b, const Layout& c);
std::int64_t count_of(const Batch& batch);

/// The address of each matrix of the batch, as an array of int64, lazily. `first`: the address of the first; `stride`:
/// the operand's.
Array addresses(OpenDevice& device, const Batch& batch, const void* first, std::size_t itemsize,
                std::int64_t BatchAxis::*stride);

}  // namespace gpulua
