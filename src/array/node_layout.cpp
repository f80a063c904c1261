#include "src/array/node_layout.h"

#include <algorithm>
#include <utility>

namespace gpulua {

namespace {

bool has_row_major_strides(const Layout& layout) {
  std::int64_t stride = 1;
  for (std::size_t axis = layout.ndim(); axis-- > 0;) {
    if (layout.strides[axis] != stride) return false;
    stride *= std::max<std::int64_t>(layout.shape[axis], 1);
  }
  return layout.offset == 0;
}

/// The layout, after the check that an array may have it.
Layout checked(Layout layout) {
  checked_size(layout.shape);
  return layout;
}

}  // namespace

SharedLayout::SharedLayout(Layout layout_)
    : layout(checked(std::move(layout_))),
      contiguous(layout.contiguous()),
      is_row_major(has_row_major_strides(layout)) {}

}  // namespace gpulua
