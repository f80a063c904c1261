// The C++ functions behind gpu.ndimage's filters, whose Lua files check the arguments.

#include <algorithm>
#include <string>

#include "bindings/arrays/array_options.h"
#include "bindings/arrays/lua_array.h"
#include "bindings/operations/operation_parts.h"
#include "src/algorithms/window_filter.h"
#include "src/base/error.h"
#include "src/runtime/context.h"

namespace gpulua {

namespace {

/// As gpu.pad names them.
WindowBorder border_at(lua_State* L, int index) {
  constexpr std::string_view names[] = {"symmetric", "reflect", "edge", "wrap", "constant"};
  const std::string_view name = check_string(L, index, "ndimage", "a mode of padding");
  return static_cast<WindowBorder>(std::ranges::find(names, name) - names);
}

/// The arguments from `first` on: the window's sizes, how many neighbours come before the element, what is beyond the
/// borders, and the number that stands there.
Window window_at(lua_State* L, int first, const char* op) {
  return {check_one_shape(L, first, op), check_one_shape(L, first + 1, op), border_at(L, first + 2),
          lua_tonumber(L, first + 3)};
}

/// The filter's result, or nothing where the kernels do not take the window.
int push_filtered(lua_State* L, const Array& result) {
  if (!result) return 0;
  push_array(L, result);
  return 1;
}

/// The array at `index`, on x's device.
Array array_beside(lua_State* L, int index, const Array& x, const std::string& op) {
  const Array array = check<Array>(L, index, op.c_str());
  if (&x->device() != &array->device()) {
    throw Error("[{}] expected arrays of one device, got {} and {}; x:to(name) copies one over", op, x->device().name(),
                array->device().name());
  }
  return array;
}

/// window_sums(op, x, weights, sizes, before, border, number)
int lua_window_sums(lua_State* L) {
  const std::string op(check_string(L, 1, "window_sums", "a name"));
  const Array x = check<Array>(L, 2, op.c_str()), weights = array_beside(L, 3, x, op);
  return push_filtered(L, window_sums(x, weights, window_at(L, 4, op.c_str())));
}

/// window_ranks(op, x, rank, sizes, before, border, number): the rank counts from 0.
int lua_window_ranks(lua_State* L) {
  const std::string op(check_string(L, 1, "window_ranks", "a name"));
  const std::int64_t rank = check_integer(L, 3, op.c_str(), "a rank");
  return push_filtered(L, window_ranks(check<Array>(L, 2, op.c_str()), rank, window_at(L, 4, op.c_str())));
}

/// window_extremes(op, x, greatest, sizes, before, border, number, footprint or nil)
int lua_window_extremes(lua_State* L) {
  const std::string op(check_string(L, 1, "window_extremes", "a name"));
  const Array x = check<Array>(L, 2, op.c_str());
  const Array footprint = lua_isnoneornil(L, 8) ? nullptr : array_beside(L, 8, x, op);
  return push_filtered(L, window_extremes(x, lua_toboolean(L, 3) != 0, footprint, window_at(L, 4, op.c_str())));
}

}  // namespace

void add_filters(lua_State* L) {
  set_functions(L, {{"window_extremes", protect<lua_window_extremes>},
                    {"window_ranks", protect<lua_window_ranks>},
                    {"window_sums", protect<lua_window_sums>}});
}

}  // namespace gpulua
