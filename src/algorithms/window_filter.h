#pragma once

#include <cstdint>

#include "src/array/array.h"

namespace gpulua {

/// What continues an array beyond its borders: kernels/window_filter.cuh.
enum class WindowBorder : std::int32_t { reflect, mirror, nearest, wrap, constant };

/// A window around each element of an array: its extents, and how many of the neighbours on each axis come before the
/// element. `number`: what is beyond the borders with WindowBorder::constant. The filters throw Error for one that does
/// not fit the elements.
struct Window {
  Dims sizes, before;
  WindowBorder border = WindowBorder::reflect;
  double number = 0;
};

/// The sums of each element's neighbours times the weights, in the weights' dtype: float32 or float64. A sum has the
/// order of the weights, whose shape is window.sizes. x has elements, and real numbers of a dtype that fits the
/// weights'. The kernel is queued at once. Null for windows that it does not take: with more than three axes of more
/// than one neighbour, or with other axes between those.
Array window_sums(const Array& x, const Array& weights, const Window& window);

/// The neighbour of that rank, counted from 0, among each element's; in x's dtype, of real numbers. NaN is the
/// greatest, and -0 is less than 0. Null for windows that the kernel does not take: as above, and with more than 9 rows
/// or columns.
Array window_ranks(const Array& x, std::int64_t rank, const Window& window);

/// The least or the greatest neighbour, in the same order. `footprint`: bool of the window's sizes, true for those that
/// count, or null. Of none the least is true and the greatest false, for bool. Null as for window_sums().
Array window_extremes(const Array& x, bool greatest, const Array& footprint, const Window& window);

}  // namespace gpulua
