#pragma once

// Arrays between the ranks of a job, by a communicator of their device. Work goes to the current stream; `op` is the
// caller's name in errors.

#include <span>
#include <utility>

#include "src/array/array.h"
#include "src/device/collectives.h"

namespace gpulua {

/// The elements of all ranks, reduced. They are written to `out`, which is returned; null: to a new array.
Array all_reduce(Communicator& ranks, const char* op, const Array& x, Reduction reduction, const Array& out = nullptr);
/// This rank's part of that along the first axis, whose extent is a multiple of the number of ranks.
Array reduce_scatter(Communicator& ranks, const char* op, const Array& x, Reduction reduction);
/// The arrays of all ranks, which have one shape, concatenated along the first axis.
Array all_gather(Communicator& ranks, const char* op, const Array& x);
/// x gets the root's elements.
void broadcast(Communicator& ranks, const char* op, const Array& x, int root);

using ArrayAndRank = std::pair<Array, int>;
/// Sends and receives arrays, all at once. All are on one device.
void transfer(Communicator& ranks, const char* op, std::span<const ArrayAndRank> sent,
              std::span<const ArrayAndRank> received);

}  // namespace gpulua
