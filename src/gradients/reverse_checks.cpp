// What the reverse pass refuses.

#include "src/array/views.h"
#include "src/base/error.h"
#include "src/gradients/reverse.h"

namespace gpulua {

namespace {

/// True for positions that broadcast an array of the shape.
bool is_broadcast(const Dims& shape, const Layout& positions) {
  if (shape.size() > positions.ndim() || positions.offset != 0) return false;
  const Layout own = row_major(shape);
  const std::size_t leading = positions.ndim() - shape.size();
  for (std::size_t axis = 0; axis < positions.ndim(); ++axis) {
    const bool repeats = axis < leading || shape[axis - leading] == 1;
    if (!repeats && positions.shape[axis] != shape[axis - leading]) return false;
    const std::int64_t stride = repeats ? 0 : own.strides[axis - leading];
    if (positions.shape[axis] != 1 && positions.strides[axis] != stride) return false;
  }
  return true;
}

}  // namespace

/// Throws Error, where the derivative of each element is wanted, for an entry whose elements depend on several elements
/// of a variable, or on others than their own.
void Reverse::check_each(const TapeEntry& entry) const {
  std::string what;
  if (entry.kind == TapeEntry::Kind::view) {
    if (!is_broadcast(shape_of(entry.inputs.front().place), entry.positions))
      what = "a part of an array, its transpose, or other axes";
  } else if (entry.kind == TapeEntry::Kind::reduction) {
    what = "a reduction by " + std::string(entry.reducer->name);
  } else if (entry.kind == TapeEntry::Kind::roll) {
    what = "a roll";
  } else if (entry.kind == TapeEntry::Kind::written) {
    // A part beside what was there before, or in another order.
    if (entry.indexed || entry.inputs[0].place != no_place || !is_broadcast(shape_of(at_), entry.positions))
      what = "a write of a part";
  } else if (entry.kind != TapeEntry::Kind::operation && entry.kind != TapeEntry::Kind::copy) {
    what = "a function of whole arrays";
  }
  if (!what.empty())
    throw Error("[{}] each = true expected elementwise operations alone between the variables and the result, got {}{}",
                tape_->op(), what, entry.origin.chunk ? fmt::format(" on line {}", entry.origin.line) : "");
}

/// Throws Error when an array that the rule of the call reads has been written since.
void Reverse::check_unwritten(const TapeEntry& entry) const {
  for (const TapeMemory& one : entry.memory)
    if (!one.kept && (one.array->buffer() != one.buffer || one.buffer->writes() != one.writes))
      refuse_written(entry, tape_->op());
}

void refuse_written(const TapeEntry& entry, const char* op) {
  throw Error("[{}] an array that a call{} has read or made was written after it: write to a copy, x:copy()", op,
              entry.origin.chunk ? fmt::format(" on line {}", entry.origin.line) : "");
}

}  // namespace gpulua
