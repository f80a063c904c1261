#pragma once

// Layouts of views: other axes, orders and windows over the same elements. Axes count from 0; the caller has checked
// them.

#include <span>

#include "src/array/layout.h"

namespace gpulua {

/// Axis `axes[i]` becomes axis i. Each axis is there once.
Layout permute(const Layout& layout, std::span<const std::size_t> axes);
/// Moves axis `from[i]` to position `to[i]`. The other axes keep their order.
Layout move_axes(const Layout& layout, std::span<const std::size_t> from, std::span<const std::size_t> to);
/// Reverses the axes whose bit is set in `axes`.
Layout flip(const Layout& layout, std::uint64_t axes);
/// Inserts axes of extent 1 at the positions of the result whose bit is set in `axes`.
Layout expand(const Layout& layout, std::uint64_t axes);
/// Removes the axes whose bit is set in `axes`. They have extent 1.
Layout squeeze(const Layout& layout, std::uint64_t axes);
/// The diagonal: the elements whose index along `column` is `offset` more than along `row`. A last axis replaces the
/// two.
Layout diagonal(const Layout& layout, std::int64_t offset, std::size_t row, std::size_t column);
/// All windows of `sizes[i]` elements along axis `axes[i]`. The axes of a window follow the other axes. The caller has
/// checked the sizes.
Layout windows(const Layout& layout, const Dims& sizes, std::span<const std::size_t> axes);

}  // namespace gpulua
