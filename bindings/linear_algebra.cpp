#include "bindings/array.h"
#include "src/core/matmul.h"

namespace gpulua {

namespace {

/// gpu.matmul(a, b), a:matmul(b): the product of two matrices.
int lua_matmul(lua_State* L) {
  push_array(L, matmul(check<Array>(L, 1, "matmul"), check<Array>(L, 2, "matmul")));
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
