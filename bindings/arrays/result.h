#pragma once

#include <cstddef>
#include <lua.hpp>
#include <optional>

#include "src/array/array.h"

namespace gpulua {

/// Pushes the result; with `out`, writes the result to it and pushes `out`. Returns 1.
int push_result(lua_State* L, const Array& out, Array result, const char* op);

/// The options of functions with an optional axis and an optional target array.
struct AxisAndOut {
  std::optional<std::size_t> axis;
  Array out;
};

/// Reads the axis at `index`, which can be omitted, and the options after it. `ndim`: the number of axes.
AxisAndOut check_axis_and_out(lua_State* L, int index, std::size_t ndim, const char* op);

}  // namespace gpulua
