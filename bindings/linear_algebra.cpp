#include "bindings/lua_array.h"
#include "bindings/parts.h"
#include "src/algorithms/matmul.h"

namespace gpulua {

namespace {

/// gpu.matmul(a, b [, {out}]), a:matmul(b [, {out}]): the product of two matrices.
int lua_matmul(lua_State* L) {
  const Array& a = check<Array>(L, 1, "matmul");
  const Array& b = check<Array>(L, 2, "matmul");
  Array out;
  read_options(L, 3, "matmul", {{"out", [&](int value) { out = check<Array>(L, value, "matmul"); }}});
  push_array(L, matmul(a, b, out));
  return 1;
}

}  // namespace

void open_linear_algebra_methods(lua_State* L) {
  set_functions(L, {{"matmul", protect<lua_matmul>}});
}

void open_linear_algebra(lua_State* L) {
  set_functions(L, {{"matmul", protect<lua_matmul>}});
}

}  // namespace gpulua
