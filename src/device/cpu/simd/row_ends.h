#pragma once

// Row ends. Where a kernel takes its threads' numbers apart (flat_numbers.h), a warp that ends with its row leaves the
// next row to the next warp. Rows of 56 then take two warps of 32 lanes. Warps that go on in the next row would run
// 2.75 pieces of rows in their place.

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/Function.h>

namespace gpulua::cpu::simd {

/// `number % width`, where the number is a thread's, or the first one that a thread takes in a loop.
struct RowNumber {
  llvm::Value *number, *width;
};

/// Lets warps end where one of the rows ends (Marker::end_lanes), if the numbers are known when the function starts.
/// Rows of less than `least_width` end no warp. For WarpLayout::row_chunk.
void end_warps_with_rows(llvm::Function& function, llvm::ArrayRef<RowNumber> rows, unsigned least_width);

}  // namespace gpulua::cpu::simd
