// The C++ functions behind gpu.sparse.linalg.splu. sparse_linalg_direct.lua checks the arguments.

#include <utility>

#include "bindings/lua_array.h"
#include "bindings/parts.h"
#include "src/algorithms/sparse_factors.h"

namespace gpulua {

/// The factors of a matrix. The device outlives them.
struct SparseFactorsHandle {
  std::shared_ptr<OpenDevice> device;
  std::shared_ptr<SparseFactors> factors;
};

template <>
struct LuaType<SparseFactorsHandle> {
  static constexpr const char* name = "factors of a sparse matrix";
};

namespace {

const Array& array_at(lua_State* L, int index) {
  return check<Array>(L, index, "sparse.linalg");
}

/// factorise_sparse(entries, rows, starts): the factors, the number of their entries, and the column without a pivot or
/// 0.
int lua_factorise(lua_State* L) {
  const Array& entries = array_at(L, 1);
  std::shared_ptr<SparseFactors> factors = factorise(entries, array_at(L, 2), array_at(L, 3));
  const std::int64_t nonzeros = factors->nonzeros(), zero_pivot = factors->zero_pivot();
  push(L, SparseFactorsHandle{entries->device_ref(), std::move(factors)});
  lua_pushnumber(L, static_cast<double>(nonzeros));
  lua_pushnumber(L, static_cast<double>(zero_pivot));
  return 3;
}

/// solve_by_factors(factors, b, way): solves in the place of b; way is "N", "T" or "C".
int lua_solve(lua_State* L) {
  const std::string_view way = check_string(L, 3, "sparse.linalg", "a letter");
  const MatrixOp op = way == "N" ? MatrixOp::plain : way == "T" ? MatrixOp::transposed : MatrixOp::conjugated;
  solve(*check<SparseFactorsHandle>(L, 1, "sparse.linalg").factors, op, array_at(L, 2));
  return 0;
}

}  // namespace

void add_sparse_factors(lua_State* L) {
  new_metatable<SparseFactorsHandle>(L, {});
  lua_pop(L, 1);
  set_functions(L, {{"factorise_sparse", protect<lua_factorise>}, {"solve_by_factors", protect<lua_solve>}});
}

}  // namespace gpulua
