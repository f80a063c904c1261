#include "src/array/memory_copy.h"

#include "src/array/aliasing.h"

namespace gpulua {

RowsToCopy rows_of(const Layout& to, const Layout& from, std::int64_t itemsize) {
  RowsToCopy rows{nullptr, nullptr, itemsize, 1, 0, 0};
  for (std::size_t axis = to.ndim(); axis-- > 0;) {
    const std::int64_t extent = to.shape[axis];
    const std::int64_t to_step = to.strides[axis] * itemsize, from_step = from.strides[axis] * itemsize;
    if (extent == 1) continue;
    if (rows.rows == 1 && to_step == rows.bytes && from_step == rows.bytes) {
      rows.bytes *= extent;
    } else if (rows.rows == 1) {
      rows.rows = extent;
      rows.to_step = to_step;
      rows.from_step = from_step;
    } else if (to_step == rows.rows * rows.to_step && from_step == rows.rows * rows.from_step) {
      rows.rows *= extent;
    } else {
      rows.bytes = 0;
      break;
    }
  }
  return rows;
}

bool copy_in_memory(Node& to, Node& from, const Layout& source) {
  OpenDevice& device = to.device();
  if (to.dtype != from.dtype || overlaps(to, from, source) || device.evaluator().trace()) return false;
  const StreamRef& stream = device.stream();
  const bool one_buffer = from.buffer() == to.buffer();
  const auto target = [&] { return one_buffer ? to.write(stream) : to.overwrite(stream); };
  if (to.contiguous && source.contiguous()) {
    const char* bytes = from.read(stream);
    if (one_buffer && source.offset == to.layout.offset) return true;
    device.copy(target(), bytes, to.nbytes(), *stream);
  } else {
    RowsToCopy rows = rows_of(to.layout, source, static_cast<std::int64_t>(to.itemsize()));
    if (rows.bytes < device.info().least_copied_row) return false;
    rows.from = from.read(stream);
    rows.to = target();
    device.copy_rows(rows, *stream);
  }
  to.buffer()->depend_on(*from.buffer());
  return true;
}

}  // namespace gpulua
