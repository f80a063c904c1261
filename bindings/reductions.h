#pragma once

#include "bindings/lua_array.h"

namespace gpulua {

struct ReductionOptions {
  std::uint64_t axes = 0;
  bool keepdims = false;
  std::optional<DType> dtype;
  Array out;
  Array where;                    // a mask that broadcasts to the array, or null
  std::optional<Scalar> initial;  // one more value to reduce
  double ddof = 0;
};

/// The options that a reduction has beside axis, keepdims and out.
struct FurtherOptions {
  bool where = false, initial = false, ddof = false, dtype = true;
};

/// Reads axis and options at `index` and the one after it; the axis may be left out, or be a field of the options.
ReductionOptions check_reduction(lua_State* L, int index, const Array& array, const char* op,
                                 FurtherOptions further = {});

}  // namespace gpulua
