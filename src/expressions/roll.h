#pragma once

#include "src/array/array.h"

namespace gpulua {

/// The elements of `array`, shifted by shifts[axis] positions along each axis: from 0 to its extent - 1. Those that
/// pass the end wrap around to the start. A pending array is evaluated now; the result is pending.
Array roll(const Array& array, Dims shifts);

}  // namespace gpulua
