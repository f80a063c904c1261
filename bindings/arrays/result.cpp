#include "bindings/arrays/result.h"

#include "bindings/arrays/axis.h"
#include "bindings/arrays/lua_array.h"
#include "src/expressions/expression.h"

namespace gpulua {

int push_result(lua_State* L, const Array& out, Array result, const char* op) {
  if (!out) {
    push_array(L, std::move(result));
    return 1;
  }
  assign(out, std::move(result), op);
  push_array(L, out);
  return 1;
}

AxisAndOut check_axis_and_out(lua_State* L, int index, std::size_t ndim, const char* op) {
  AxisAndOut result;
  const auto read_axis = [&](int value) { result.axis = check_axis(L, value, ndim, op); };
  const bool has_axis = !lua_istable(L, index);
  if (has_axis && !lua_isnoneornil(L, index)) read_axis(index);
  read_options(L, has_axis ? index + 1 : index, op,
               {{"axis", read_axis}, {"out", [&](int value) { result.out = check<Array>(L, value, op); }}});
  return result;
}

}  // namespace gpulua
