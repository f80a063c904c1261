#pragma once

#include "bindings/arrays/lua_array.h"

namespace gpulua {

/// The options of a reduction's call.
struct ReductionOptions {
  std::uint64_t axes = 0;  // bit mask
  bool keepdims = false;
  std::optional<DType> dtype;
  Array out;
  Array where;                    // a mask that broadcasts to the array, or null
  std::optional<Scalar> initial;  // one more value to reduce
  double ddof = 0;
};

/// The options that a reduction accepts in addition to axis, keepdims and out.
struct FurtherOptions {
  bool where = false, initial = false, ddof = false, dtype = true;
};

/// Reads the axis at `index` and the options after it. The axis can be omitted, or be a field of the options. Throws
/// Error for an unknown option.
ReductionOptions check_reduction(lua_State* L, int index, const Array& array, const char* op,
                                 FurtherOptions further = {});

}  // namespace gpulua
