#pragma once

// Layouts of views: other axes, orders and windows over the same elements. Axes count from 0 and have been checked.

#include <span>

#include "src/array/layout.h"

namespace gpulua {

/// Axis `axes[i]` becomes axis i; each stands there once.
Layout permute(const Layout& layout, std::span<const std::size_t> axes);
/// The axes in `from` go to the positions `to`, of as many; the others keep their order.
Layout move_axes(const Layout& layout, std::span<const std::size_t> from, std::span<const std::size_t> to);
/// The axes that are set in `axes` backwards.
Layout flip(const Layout& layout, std::uint64_t axes);
/// Axes of size 1 at the positions of the result that are set in `axes`.
Layout expand(const Layout& layout, std::uint64_t axes);
/// Without the axes that are set in `axes`, which have size 1.
Layout squeeze(const Layout& layout, std::uint64_t axes);
/// The elements whose index on `column` is that on `row` plus `offset`, along a last axis that replaces the two.
Layout diagonal(const Layout& layout, std::int64_t offset, std::size_t row, std::size_t column);
/// Every window of `sizes[i]` elements along axis `axes[i]`: axes for what is in a window follow the others. The sizes
/// fit.
Layout windows(const Layout& layout, const Dims& sizes, std::span<const std::size_t> axes);

}  // namespace gpulua
