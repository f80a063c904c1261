#pragma once

// Whether a sparse matrix can have n pivots, by the indices of its nonzeros alone.

#include <vector>

namespace gpulua {

/// Of a square matrix in compressed columns, counted from 0: a column that is left when as many columns as possible
/// have a nonzero in a row of their own; -1 if none is. Then no matrix with these nonzeros has full rank. By augmenting
/// paths (Duff, "On algorithms for obtaining a maximum transversal", 1981).
int unmatched_column(const std::vector<int>& rows, const std::vector<int>& starts);

}  // namespace gpulua
