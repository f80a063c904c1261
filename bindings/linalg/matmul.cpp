#include "src/algorithms/matmul.h"
#include "bindings/arrays/lua_array.h"
#include "bindings/arrays/sparse_matrix.h"
#include "bindings/linalg/linalg_parts.h"

namespace gpulua {

namespace {

/// gpu.matmul(a, b [, {out}]), a:matmul(b [, {out}]): the product of two matrices.
int lua_matmul(lua_State* L) {
  const Array& a = check<Array>(L, 1, "matmul");
  const Array& b = check<Array>(L, 2, "matmul");
  Array out;
  if (test<Array>(L, 3)) fail("matmul", "two arrays, as a:matmul(b):matmul(c) of three", L, 3);
  read_options(L, 3, "matmul", {{"out", [&](int value) { out = check<Array>(L, value, "matmul"); }}});
  push_array(L, matmul(a, b, out));
  return 1;
}

/// gpu.matmul(a, b [, {out}])
/// The same, also of sparse matrices.
int matmul_of_any(lua_State* L) {
  const int results = call_for_sparse(L, 2, "matmul", "matmul");
  return results >= 0 ? results : protect<lua_matmul>(L);
}

}  // namespace

void open_linear_algebra_methods(lua_State* L) {
  set_functions(L, {{"matmul", matmul_of_any}});
}

void open_linear_algebra(lua_State* L) {
  set_functions(L, {{"matmul", matmul_of_any}});
}

}  // namespace gpulua
