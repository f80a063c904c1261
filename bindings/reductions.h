#pragma once

#include "bindings/array.h"

namespace gpulua {

struct ReductionOptions {
  std::uint64_t axes = 0;
  bool keepdims = false;
  std::optional<DType> dtype;
  Array out;
};

/// Reads axis and options at `index` and the one after it; the axis may be left out, or be a field of the options.
/// `ddof`: where there is that option, its value.
ReductionOptions check_reduction(lua_State* L, int index, const Array& array, const char* op, double* ddof = nullptr);

}  // namespace gpulua
