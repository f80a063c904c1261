#pragma once

// Writes of all elements of an array. Pending nodes that read it still read the elements before: where nobody else
// knows the array's memory, the array gets other memory, and they keep the old one. Otherwise they are evaluated first.

#include "src/array/array.h"

namespace gpulua {

/// Writes the value, which has the shape of `to` or broadcasts to it, converted to its dtype. Where the array may
/// change its memory, and the value is pending and somebody else has it, too, the elements stay pending, as one of the
/// device's PendingWrites. As for Evaluator::evaluate_into, a caller gives the value up by moving its only handle in.
void write_whole(const Array& to, Array value);

/// Gives the array new memory, for a write of all elements that is queued next, where it is pending or pending nodes
/// read it.
void leave_to_readers(Node& array);

}  // namespace gpulua
