#include "src/array/layout.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <utility>

#include "src/base/error.h"

namespace gpulua {

namespace {

void push_axis(Layout& layout, std::int64_t extent, std::int64_t stride) {
  layout.shape.push_back(extent);
  layout.strides.push_back(stride);
}

}  // namespace

std::int64_t Layout::size() const {
  std::int64_t size = 1;
  for (std::int64_t extent : shape) size *= extent;
  return size;
}

bool Layout::contiguous() const {
  std::int64_t expected = 1;
  for (std::size_t axis = ndim(); axis-- > 0;) {
    if (shape[axis] == 0) return true;
    if (shape[axis] != 1 && strides[axis] != expected) return false;
    expected *= shape[axis];
  }
  return true;
}

bool Layout::overlaps_itself() const {
  if (contiguous() || size() == 0) return false;
  std::vector<std::pair<std::int64_t, std::int64_t>> axes;  // stride, extent
  for (std::size_t axis = 0; axis < ndim(); ++axis)
    if (shape[axis] > 1) axes.emplace_back(std::abs(strides[axis]), shape[axis]);
  std::sort(axes.begin(), axes.end());
  std::int64_t reach = 0;
  for (const auto& [stride, extent] : axes) {
    if (stride <= reach) return true;
    reach += stride * (extent - 1);
  }
  return false;
}

std::int64_t checked_size(const Dims& shape, std::string_view op) {
  const auto refuse = [&](const std::string& expected, const std::string& got) {
    throw Error("[{}] expected {}, got {}", op, expected, got);
  };
  if (shape.size() > max_ndim)
    refuse("at most " + std::to_string(max_ndim) + " dimensions", std::to_string(shape.size()));
  std::int64_t size = 1;
  bool empty = false;
  for (std::int64_t extent : shape) {
    if (extent < 0) refuse("extents of 0 or more", to_string(shape));
    if (extent == 0)
      empty = true;
    else if (__builtin_mul_overflow(size, extent, &size) || size > max_elements)
      refuse("a shape of at most 2^53 elements", to_string(shape));
  }
  return empty ? 0 : size;
}

Layout row_major(Dims shape) {
  checked_size(shape);
  Layout layout;
  layout.strides.resize(shape.size());
  std::int64_t stride = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    layout.strides[axis] = stride;
    stride *= std::max<std::int64_t>(shape[axis], 1);
  }
  layout.shape = std::move(shape);
  return layout;
}

Layout index(const Layout& layout, std::span<const IndexSpec> specs) {
  using Kind = IndexSpec::Kind;
  std::size_t consumed = 0;
  bool has_ellipsis = false;
  for (const IndexSpec& spec : specs) {
    if (spec.kind == Kind::integer || spec.kind == Kind::slice) ++consumed;
    if (spec.kind == Kind::ellipsis) {
      if (has_ellipsis) throw Error("[index] expected at most one \"...\"");
      has_ellipsis = true;
    }
  }
  if (consumed > layout.ndim())
    throw Error("[index] expected at most {} indices for shape {}, got {}", layout.ndim(), to_string(layout.shape),
                consumed);

  Layout result;
  result.offset = layout.offset;
  std::size_t axis = 0;
  auto keep_axes = [&](std::size_t count) {
    for (; count > 0; --count, ++axis) push_axis(result, layout.shape[axis], layout.strides[axis]);
  };
  for (const IndexSpec& spec : specs) {
    switch (spec.kind) {
      case Kind::integer:
        result.offset += spec.first * layout.strides[axis++];
        break;
      case Kind::slice:
        if (spec.count < 0) {
          keep_axes(1);
          break;
        }
        if (spec.count > 0) result.offset += spec.first * layout.strides[axis];
        push_axis(result, spec.count, spec.count > 1 ? spec.step * layout.strides[axis] : layout.strides[axis]);
        ++axis;
        break;
      case Kind::ellipsis:
        keep_axes(layout.ndim() - consumed);
        break;
      case Kind::new_axis:
        push_axis(result, 1, 0);
        break;
    }
  }
  keep_axes(layout.ndim() - axis);
  if (result.ndim() > max_ndim) checked_size(result.shape);
  return result;
}

bool is_transposed(const Layout& layout) {
  std::size_t inner = layout.ndim();
  while (inner > 0 && layout.shape[inner - 1] == 1) --inner;
  if (inner < 2 || std::abs(layout.strides[inner - 1]) <= 1) return false;
  for (std::size_t axis = 0; axis + 1 < inner; ++axis)
    if (layout.shape[axis] > 1 && std::abs(layout.strides[axis]) == 1) return true;
  return false;
}

Layout transpose(const Layout& layout) {
  Layout result = layout;
  std::reverse(result.shape.begin(), result.shape.end());
  std::reverse(result.strides.begin(), result.strides.end());
  return result;
}

std::optional<Layout> reshape(const Layout& layout, const Dims& shape) {
  if (checked_size(shape) != layout.size()) return std::nullopt;
  Layout result = row_major(shape);
  result.offset = layout.offset;
  if (layout.size() == 0) return result;

  // Each run of new axes must cover a run of old axes of the same size that is evenly strided.
  Dims from_shape, from_strides;
  for (std::size_t axis = 0; axis < layout.ndim(); ++axis) {
    if (layout.shape[axis] == 1) continue;
    from_shape.push_back(layout.shape[axis]);
    from_strides.push_back(layout.strides[axis]);
  }
  std::size_t old_end = 0, new_end = 0;
  while (old_end < from_shape.size()) {
    const std::size_t old_begin = old_end, new_begin = new_end;
    std::int64_t old_size = from_shape[old_end++], new_size = 1;
    while (new_size != old_size) {
      if (new_size < old_size) {
        new_size *= shape[new_end++];
      } else {
        old_size *= from_shape[old_end++];
      }
    }
    for (std::size_t axis = old_begin; axis + 1 < old_end; ++axis)
      if (from_strides[axis] != from_shape[axis + 1] * from_strides[axis + 1]) return std::nullopt;
    std::int64_t stride = from_strides[old_end - 1];
    for (std::size_t axis = new_end; axis-- > new_begin;) {
      result.strides[axis] = stride;
      stride *= shape[axis];
    }
  }
  return result;
}

namespace {

/// The remedy where one shape lacks the last axis of the other: (2,) with (2,3) becomes (2,1).
std::string missing_axis(const Dims& a, const Dims& b) {
  const Dims& less = a.size() < b.size() ? a : b;
  const Dims& more = a.size() < b.size() ? b : a;
  if (less.empty() || less.size() + 1 != more.size() || !std::equal(less.begin(), less.end(), more.begin())) return "";
  Dims longer = less;
  longer.push_back(1);
  return "; expand_dims(" + std::to_string(longer.size()) + ") makes " + to_string(longer) + " of " + to_string(less);
}

}  // namespace

void refuse_broadcast(std::string_view op, std::span<const Dims* const> shapes) {
  std::string text = "[" + std::string(op) + "] operands could not be broadcast together with shapes";
  for (const Dims* shape : shapes) text += " " + to_string(*shape);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    for (std::size_t j = i + 1; j < shapes.size(); ++j) {
      const Dims &a = *shapes[i], &b = *shapes[j];
      for (std::size_t back = 1; back <= std::min(a.size(), b.size()); ++back) {
        const std::int64_t x = a[a.size() - back], y = b[b.size() - back];
        if (x == y || x == 1 || y == 1) continue;
        text += ": counted from the last axis, " + std::to_string(x) + " meets " + std::to_string(y) +
                ", and sizes of an axis are equal or one is 1" + missing_axis(a, b);
        const bool are_factors = a.size() == 2 && b.size() == 2 && a[1] == b[0];
        if (op == "multiply" && are_factors) text += "; gpu.matmul(x, y) is the product of matrices";
        throw Error(text);
      }
    }
  }
  throw Error(text);
}

Dims broadcast_shapes(std::string_view op, std::span<const Dims* const> shapes) {
  Dims result;
  for (const Dims* shape : shapes) {
    if (shape->size() > result.size()) result.insert(result.begin(), shape->size() - result.size(), 1);
    const std::size_t lead = result.size() - shape->size();
    for (std::size_t axis = 0; axis < shape->size(); ++axis) {
      std::int64_t& extent = result[lead + axis];
      if ((*shape)[axis] == extent || (*shape)[axis] == 1) continue;
      if (extent == 1) {
        extent = (*shape)[axis];
        continue;
      }
      refuse_broadcast(op, shapes);
    }
  }
  return result;
}

Layout broadcast_to(const Layout& layout, const Dims& shape, std::string_view op) {
  const auto fail = [&] { refuse_broadcast(op, std::array<const Dims*, 2>{&layout.shape, &shape}); };
  if (layout.ndim() > shape.size()) fail();
  Layout result;
  result.shape = shape;
  result.strides.assign(shape.size(), 0);
  result.offset = layout.offset;
  const std::size_t lead = shape.size() - layout.ndim();
  for (std::size_t axis = 0; axis < layout.ndim(); ++axis) {
    if (layout.shape[axis] == shape[lead + axis]) {
      result.strides[lead + axis] = layout.strides[axis];
    } else if (layout.shape[axis] != 1) {
      fail();
    }
  }
  return result;
}

Extent extent(const Layout& layout) {
  if (layout.size() == 0) return {layout.offset, layout.offset};
  Extent result{layout.offset, layout.offset + 1};
  for (std::size_t axis = 0; axis < layout.ndim(); ++axis) {
    const std::int64_t reach = (layout.shape[axis] - 1) * layout.strides[axis];
    (reach < 0 ? result.begin : result.end) += reach;
  }
  return result;
}

std::string to_string(const Dims& shape) {
  std::string text = "(";
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (axis > 0) text += ',';
    text += std::to_string(shape[axis]);
  }
  if (shape.size() == 1) text += ',';
  return text + ")";
}

}  // namespace gpulua
