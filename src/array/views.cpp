#include "src/array/views.h"

#include <algorithm>
#include <vector>

namespace gpulua {

namespace {

bool has(std::uint64_t axes, std::size_t axis) {
  return (axes >> axis & 1) != 0;
}

void erase_at(Dims& values, std::size_t axis) {
  values.erase(values.begin() + static_cast<std::ptrdiff_t>(axis));
}

}  // namespace

Layout permute(const Layout& layout, std::span<const std::size_t> axes) {
  Layout result;
  result.offset = layout.offset;
  for (std::size_t axis : axes) {
    result.shape.push_back(layout.shape[axis]);
    result.strides.push_back(layout.strides[axis]);
  }
  return result;
}

Layout move_axes(const Layout& layout, std::span<const std::size_t> from, std::span<const std::size_t> to) {
  const std::size_t none = layout.ndim();
  std::vector<std::size_t> order(layout.ndim(), none);
  for (std::size_t i = 0; i < from.size(); ++i) order[to[i]] = from[i];
  std::size_t axis = 0;
  for (std::size_t& place : order) {
    if (place != none) continue;
    while (std::find(from.begin(), from.end(), axis) != from.end()) ++axis;
    place = axis++;
  }
  return permute(layout, order);
}

Layout flip(const Layout& layout, std::uint64_t axes) {
  Layout result = layout;
  for (std::size_t axis = 0; axis < layout.ndim(); ++axis) {
    if (!has(axes, axis)) continue;
    if (layout.shape[axis] > 0) result.offset += (layout.shape[axis] - 1) * layout.strides[axis];
    result.strides[axis] = -layout.strides[axis];
  }
  return result;
}

Layout expand(const Layout& layout, std::uint64_t axes) {
  Layout result;
  result.offset = layout.offset;
  std::size_t axis = 0;
  for (std::size_t at = 0; at < max_ndim; ++at) {
    if (has(axes, at)) {
      result.shape.push_back(1);
      result.strides.push_back(0);
    } else if (axis < layout.ndim()) {
      result.shape.push_back(layout.shape[axis]);
      result.strides.push_back(layout.strides[axis++]);
    }
  }
  return result;
}

Layout squeeze(const Layout& layout, std::uint64_t axes) {
  Layout result;
  result.offset = layout.offset;
  for (std::size_t axis = 0; axis < layout.ndim(); ++axis) {
    if (has(axes, axis)) continue;
    result.shape.push_back(layout.shape[axis]);
    result.strides.push_back(layout.strides[axis]);
  }
  return result;
}

Layout diagonal(const Layout& layout, std::int64_t offset, std::size_t row, std::size_t column) {
  offset = std::clamp(offset, -max_elements, max_elements);
  const std::int64_t first_row = std::max<std::int64_t>(-offset, 0), first_column = std::max<std::int64_t>(offset, 0);
  const std::int64_t count =
      std::max<std::int64_t>(std::min(layout.shape[row] - first_row, layout.shape[column] - first_column), 0);
  Layout result = layout;
  if (count > 0) result.offset += first_row * layout.strides[row] + first_column * layout.strides[column];
  for (std::size_t axis : {std::max(row, column), std::min(row, column)}) {
    erase_at(result.shape, axis);
    erase_at(result.strides, axis);
  }
  result.shape.push_back(count);
  result.strides.push_back(layout.strides[row] + layout.strides[column]);
  return result;
}

Layout windows(const Layout& layout, const Dims& sizes, std::span<const std::size_t> axes) {
  Layout result = layout;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    result.shape[axes[i]] -= sizes[i] - 1;
    result.shape.push_back(sizes[i]);
    result.strides.push_back(layout.strides[axes[i]]);
  }
  return result;
}

}  // namespace gpulua
