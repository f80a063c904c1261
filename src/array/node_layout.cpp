#include "src/array/node_layout.h"

#include <utility>

namespace gpulua {

namespace {

/// The layout, after the check that an array may have it.
Layout checked(Layout layout) {
  checked_size(layout.shape);
  return layout;
}

}  // namespace

SharedLayout::SharedLayout(Layout layout_)
    : layout(checked(std::move(layout_))),
      contiguous(layout.contiguous()),
      is_row_major(layout.offset == 0 && layout.strides == row_major(layout.shape).strides) {}

}  // namespace gpulua
