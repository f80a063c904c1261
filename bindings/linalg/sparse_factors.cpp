// The C++ functions behind the direct solvers of gpu.sparse.linalg. sparse_linalg_direct.lua checks the arguments.

#include <utility>

#include "bindings/arrays/lua_array.h"
#include "bindings/linalg/linalg_parts.h"
#include "src/algorithms/sparse_factors.h"
#include "src/algorithms/sparse_triangle.h"

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

const Array& operand_at(lua_State* L, int index) {
  return check<Array>(L, index, "sparse.linalg");
}

/// factorise_sparse(entries, rows, starts): the factors, the number of their nonzeros, and the column without a pivot,
/// or 0.
int lua_factorise(lua_State* L) {
  const Array& entries = operand_at(L, 1);
  std::shared_ptr<SparseFactors> factors = factorise(entries, operand_at(L, 2), operand_at(L, 3));
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
  solve(*check<SparseFactorsHandle>(L, 1, "sparse.linalg").factors, op, operand_at(L, 2));
  return 0;
}

/// solve_sparse_triangle(entries, columns, starts, b, lower, unit_diagonal): solves in the place of b; where that
/// fails, the row and the column.
int lua_solve_triangle(lua_State* L) {
  const SparseTriangle triangle{
      {operand_at(L, 1), operand_at(L, 2), operand_at(L, 3)}, lua_toboolean(L, 5) != 0, lua_toboolean(L, 6) != 0};
  const SparsePosition failed = solve_triangle(triangle, operand_at(L, 4));
  if (failed.row == 0) return 0;
  lua_pushnumber(L, static_cast<double>(failed.row));
  lua_pushnumber(L, static_cast<double>(failed.column));
  return 2;
}

}  // namespace

void add_sparse_factors(lua_State* L) {
  new_metatable<SparseFactorsHandle>(L, {});
  lua_pop(L, 1);
  set_functions(L, {{"factorise_sparse", protect<lua_factorise>},
                    {"solve_by_factors", protect<lua_solve>},
                    {"solve_sparse_triangle", protect<lua_solve_triangle>}});
}

}  // namespace gpulua
