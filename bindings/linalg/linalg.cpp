// The C++ functions behind gpu.linalg. The Lua files linalg*.lua check the arguments and prepare the operands.

#include <string>
#include <vector>

#include "bindings/arrays/lua_array.h"
#include "bindings/linalg/linalg_parts.h"
#include "src/algorithms/decomposition.h"
#include "src/algorithms/small_systems.h"

namespace gpulua {

namespace {

constexpr std::pair<std::string_view, SolverRoutine> routines[] = {
    {"lu", SolverRoutine::lu},
    {"lu_solve", SolverRoutine::lu_solve},
    {"cholesky", SolverRoutine::cholesky},
    {"reflectors", SolverRoutine::reflectors},
    {"orthogonal", SolverRoutine::orthogonal},
    {"symmetric_eigen", SolverRoutine::symmetric_eigen},
    {"eigen", SolverRoutine::eigen},
    {"singular_values", SolverRoutine::singular_values},
};

constexpr std::pair<std::string_view, FaultKind> faults[] = {
    {"singular", FaultKind::singular},
    {"zero diagonal", FaultKind::zero_diagonal},
    {"pivot", FaultKind::pivot},
    {"not positive definite", FaultKind::not_positive_definite},
    {"not converged", FaultKind::not_converged},
};

/// The value of a name in one of the tables.
template <class Value, std::size_t count>
Value find(const std::pair<std::string_view, Value> (&table)[count], std::string_view name) {
  for (const auto& [known, value] : table)
    if (known == name) return value;
  throw Error("[linalg] unknown: {}", name);
}

/// The array in a field of the table at index 1, or null.
Array array_field(lua_State* L, const char* field) {
  lua_getfield(L, 1, field);
  const Array found = lua_isnil(L, -1) ? nullptr : check<Array>(L, -1, "linalg");
  lua_pop(L, 1);
  return found;
}

bool flag(lua_State* L, const char* field) {
  lua_getfield(L, 1, field);
  const bool on = lua_toboolean(L, -1) != 0;
  lua_pop(L, 1);
  return on;
}

/// decompose {routine =, a =, b =, c =, values =, pivots =, transposed =, upper =, vectors =, full =}: the
/// solver's info, the pivots, and whether the right singular vectors are in columns.
int lua_decompose(lua_State* L) {
  Decomposition problem;
  lua_getfield(L, 1, "routine");
  problem.routine = find(routines, check_string(L, -1, "linalg", "a routine"));
  lua_pop(L, 1);
  problem.op = flag(L, "transposed")   ? MatrixOp::transposed
               : flag(L, "conjugated") ? MatrixOp::conjugated
                                       : MatrixOp::plain;
  problem.triangle = flag(L, "upper") ? Triangle::upper : Triangle::lower;
  problem.vectors = flag(L, "vectors");
  problem.full = flag(L, "full");
  problem.a = array_field(L, "a");
  problem.b = array_field(L, "b");
  problem.c = array_field(L, "c");
  problem.values = array_field(L, "values");
  problem.pivots = array_field(L, "pivots");
  push_array(L, decompose(problem));
  if (problem.pivots)
    push_array(L, problem.pivots);
  else
    lua_pushnil(L);
  lua_pushboolean(L, problem.right_in_columns);
  return 3;
}

/// check_decomposition(op, fault, info, values or nil, results)
int lua_check_decomposition(lua_State* L) {
  const std::string op(check_string(L, 1, "linalg", "a name"));
  std::vector<Array> results;
  for (int i = 1; i <= static_cast<int>(lua_objlen(L, 5)); ++i) {
    lua_rawgeti(L, 5, i);
    results.push_back(check<Array>(L, -1, "linalg"));
    lua_pop(L, 1);
  }
  check_decomposition(op.c_str(), find(faults, check_string(L, 2, "linalg", "a fault")), check<Array>(L, 3, "linalg"),
                      lua_isnil(L, 4) ? nullptr : check<Array>(L, 4, "linalg"), results);
  return 0;
}

/// permutation(pivots, m): the rows of the matrices that the exchanges bring to each position, from 1, as int32.
int lua_permutation(lua_State* L) {
  push_array(L, permutation(check<Array>(L, 1, "linalg"), check_integer(L, 2, "linalg", "a number")));
  return 1;
}

/// solver_checks_finite(array): whether its device's solver reports elements that are not finite.
int lua_solver_checks_finite(lua_State* L) {
  lua_pushboolean(L, check<Array>(L, 1, "linalg")->device().device().solver().checks_finite());
  return 1;
}

/// takes_small(matrices): whether the functions below are the quicker ones.
int lua_takes_small(lua_State* L) {
  lua_pushboolean(L, takes_small_systems(check<Array>(L, 1, "linalg")));
  return 1;
}

/// solve_small(a, b or nil, x): the solver's info.
int lua_solve_small(lua_State* L) {
  push_array(L, solve_small(check<Array>(L, 1, "linalg"), lua_isnil(L, 2) ? nullptr : check<Array>(L, 2, "linalg"),
                            check<Array>(L, 3, "linalg")));
  return 1;
}

/// determinant_small(a)
int lua_determinant_small(lua_State* L) {
  push_array(L, determinant_small(check<Array>(L, 1, "linalg")));
  return 1;
}

/// cholesky_small(a, factor): the solver's info.
int lua_cholesky_small(lua_State* L) {
  push_array(L, cholesky_small(check<Array>(L, 1, "linalg"), check<Array>(L, 2, "linalg")));
  return 1;
}

/// qr_small(a, q, r)
int lua_qr_small(lua_State* L) {
  qr_small(check<Array>(L, 1, "linalg"), check<Array>(L, 2, "linalg"), check<Array>(L, 3, "linalg"));
  return 0;
}

/// takes_small_symmetric(matrices): whether eigen_small is the quicker one.
int lua_takes_small_symmetric(lua_State* L) {
  lua_pushboolean(L, takes_small_symmetric(check<Array>(L, 1, "linalg")));
  return 1;
}

/// takes_small_singular(matrices): whether singular_small is the quicker one.
int lua_takes_small_singular(lua_State* L) {
  lua_pushboolean(L, takes_small_singular(check<Array>(L, 1, "linalg")));
  return 1;
}

/// singular_small(a, s): the solver's info.
int lua_singular_small(lua_State* L) {
  push_array(L, singular_small(check<Array>(L, 1, "linalg"), check<Array>(L, 2, "linalg")));
  return 1;
}

/// eigen_small(a, is_upper, w, v or nil): the solver's info.
int lua_eigen_small(lua_State* L) {
  push_array(L, eigen_small(check<Array>(L, 1, "linalg"), lua_toboolean(L, 2) != 0 ? Triangle::upper : Triangle::lower,
                            check<Array>(L, 3, "linalg"), lua_isnil(L, 4) ? nullptr : check<Array>(L, 4, "linalg")));
  return 1;
}

}  // namespace

void add_linalg_functions(lua_State* L) {
  set_functions(L, {{"check_decomposition", protect<lua_check_decomposition>},
                    {"cholesky_small", protect<lua_cholesky_small>},
                    {"determinant_small", protect<lua_determinant_small>},
                    {"eigen_small", protect<lua_eigen_small>},
                    {"qr_small", protect<lua_qr_small>},
                    {"singular_small", protect<lua_singular_small>},
                    {"solve_small", protect<lua_solve_small>},
                    {"solver_checks_finite", protect<lua_solver_checks_finite>},
                    {"takes_small", protect<lua_takes_small>},
                    {"takes_small_singular", protect<lua_takes_small_singular>},
                    {"takes_small_symmetric", protect<lua_takes_small_symmetric>},
                    {"decompose", protect<lua_decompose>},
                    {"permutation", protect<lua_permutation>}});
}

}  // namespace gpulua
