#pragma once

// The routines of a device's Solver, for arrays, and what they report.

#include <span>

#include "src/array/array.h"
#include "src/device/libraries.h"

namespace gpulua {

/// A routine and its operands: arrays in memory, row-major, of one dtype and one device, with elements. The last axis
/// of a matrix's array goes along its columns, so an array (..., n, m) holds matrices of m rows and n columns. The axes
/// before those are the batch's. `values` and `pivots` have one axis more than the batch.
struct Decomposition {
  SolverRoutine routine = SolverRoutine::lu;
  MatrixOp op = MatrixOp::plain;
  Triangle triangle = Triangle::lower;
  bool vectors = false, full = false;
  bool right_in_columns = false;  // set by decompose(): SolverNeeds'
  Array a, b, c, values, pivots;  // those that the routine does not use are null
};

/// Runs the routine. Returns SolverProblem::info, int32, a vector with an element for each matrix of the batch. `lu`
/// sets `pivots`, (k * batch), which is null before.
Array decompose(Decomposition& problem);

/// The rows that the exchanges `pivots` (..., k), int32, bring to each of m positions, from 1: (..., m), int32.
Array permutation(const Array& pivots, std::int64_t m);

/// The matrices of `info` other than 0 have failed, and so have those with elements of `values` (..., n) that are NaN;
/// `values` can be null. The elements of `results`, up to three row-major arrays, become NaN for each of them, and the
/// first one is an error about the operation `op` at the next wait.
void check_decomposition(const char* op, FaultKind kind, const Array& info, const Array& values,
                         std::span<const Array> results);

}  // namespace gpulua
