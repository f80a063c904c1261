// The C++ functions behind gpu.sparse. The files sparse*.lua check the arguments.

#include "bindings/arrays/sparse_matrix.h"

#include <string>

#include "bindings/arrays/array_parts.h"
#include "bindings/arrays/lua_array.h"
#include "bindings/lua/fields.h"
#include "bindings/lua/library.h"
#include "bindings/lua/names_elsewhere.h"
#include "bindings/lua/state.h"
#include "src/algorithms/sparse.h"
#include "src/base/near_name.h"

namespace gpulua {

namespace {

constexpr const char* part = "sparse";

const Array& array_at(lua_State* L, int index) {
  return check<Array>(L, index, part);
}

DType dtype_at(lua_State* L, int index) {
  return parse_dtype(check_string(L, index, part, "a dtype's name"));
}

/// sparse_matrix(fields): a matrix with these fields.
int new_matrix(lua_State* L) {
  push(L, SparseMatrix{});
  lua_pushvalue(L, 1);
  lua_setfenv(L, -2);
  return 1;
}

/// sparse_fields(value): the fields of a sparse matrix; nil for another value.
int lua_fields(lua_State* L) {
  if (!test<SparseMatrix>(L, 1)) return 0;
  push_fields(L, 1);
  return 1;
}

/// sparse_metatable(): the metatable of sparse matrices, and their methods.
int lua_metatable(lua_State* L) {
  push(L, SparseMatrix{});
  lua_getmetatable(L, -1);
  lua_getfield(L, LUA_REGISTRYINDEX, sparse_methods_key);
  return 2;
}

/// sparse_method(name): the method, after its file has run; nil without one.
int lua_method(lua_State* L) {
  return push_from_library(L, "A:", check_string(L, 1, part, "a name")) ? 1 : 0;
}

/// Whether arrays have a method of the name at index 1.
bool is_array_method(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, array_methods_key);
  lua_pushvalue(L, 1);
  lua_rawget(L, -2);
  const bool found = !lua_isnil(L, -1);
  lua_pop(L, 2);
  return found;
}

/// refuse_sparse_field(name, properties): raises the error about a field that is neither a property nor a method.
int refuse_sparse_name(lua_State* L) {
  load_library(L);
  const std::string name(name_at(L, 1)), message = no_field(LuaType<SparseMatrix>::name) + describe(L, 1);
  const std::string_view here = name_elsewhere("A:" + name);
  if (!here.empty()) throw Error("{}; use {}", message, here);
  if (is_array_method(L))
    throw Error("{}, which arrays have; {}", message,
                name.ends_with('_') ? "A.data:" + name + "(...) changes the stored elements"
                                    : "use A:todense():" + name + "(...)");
  const std::string_view of_array = name_elsewhere(name);
  if (of_array.starts_with("x:") || of_array.starts_with("x."))
    throw Error("{}; use {}, of the array x = A:todense()", message, of_array);
  if (name.find(':') != name.npos) throw Error("{}; A(\"{}\") selects rows, and A(\":\", j) a column", message, name);
  NearName near(name);
  offer_names(L, 2, near);
  lua_getfield(L, LUA_REGISTRYINDEX, sparse_methods_key);
  offer_names(L, lua_gettop(L), near);
  refuse_field(L, no_field(LuaType<SparseMatrix>::name), 1, near);
}

/// keep(arrays...): evaluates them; a gpu.scope that runs does not free them.
int keep(lua_State* L) {
  for (int i = 1; i <= lua_gettop(L); ++i) {
    const BufferRef& buffer = array_at(L, i)->buffer();
    for (Scope& scope : bindings_of(L).scopes) scope.keep(*buffer);
  }
  return 0;
}

/// writes(x): a number that grows with each write of x's memory.
int lua_writes(lua_State* L) {
  lua_pushnumber(L, static_cast<double>(array_at(L, 1)->buffer()->writes()));
  return 1;
}

/// multiply_lines(entries, places, starts, tiles, x): see multiply(). `tiles` can be false.
int lua_multiply(lua_State* L) {
  const Array tiles = lua_toboolean(L, 4) ? array_at(L, 4) : nullptr;
  push_array(L, multiply({array_at(L, 1), array_at(L, 2), array_at(L, 3), tiles}, array_at(L, 5)));
  return 1;
}

/// lines_of_tiles(starts, count): false where products need none.
int lua_lines_of_tiles(lua_State* L) {
  Array tiles = lines_of_tiles(array_at(L, 1), check_integer(L, 2, part, "a number"));
  if (tiles)
    push_array(L, std::move(tiles));
  else
    lua_pushboolean(L, false);
  return 1;
}

/// sum_lines(entries, starts)
int lua_sum_lines(lua_State* L) {
  push_array(L, sum_lines(array_at(L, 1), array_at(L, 2)));
  return 1;
}

/// diagonal_of_lines(entries, places, starts, first, offset, count): see diagonal_of_lines(); nil where that gives
/// none.
int lua_diagonal_of_lines(lua_State* L) {
  const Array sums =
      diagonal_of_lines({array_at(L, 1), array_at(L, 2), array_at(L, 3)}, check_integer(L, 4, part, "a number"),
                        check_integer(L, 5, part, "a number"), check_integer(L, 6, part, "a number"));
  if (!sums) return 0;
  push_array(L, sums);
  return 1;
}

/// extreme_of_lines(entries, starts, width, maximum)
int lua_extreme_of_lines(lua_State* L) {
  const auto width = check_integer(L, 3, part, "a number");
  push_array(L, extremes_of_lines(array_at(L, 1), array_at(L, 2), width, lua_toboolean(L, 4) != 0));
  return 1;
}

/// count_merged(lines, lines), where lines are entries, places and starts: see count_merged().
int lua_count_merged(lua_State* L) {
  push_array(L, count_merged(sparse_lines_at(L, 1), sparse_lines_at(L, 4)));
  return 1;
}

/// merge_lines(lines, lines, starts, count): the indices, and the nonzeros of both.
int lua_merge_lines(lua_State* L) {
  const MergedLines merged =
      merge(sparse_lines_at(L, 1), sparse_lines_at(L, 4), array_at(L, 7), check_integer(L, 8, part, "a number"));
  for (const Array& array : {merged.places, merged.left, merged.right}) push_array(L, array);
  return 3;
}

/// starts_of(line_of_entry, lines)
int lua_starts_of(lua_State* L) {
  push_array(L, starts_of(array_at(L, 1), check_integer(L, 2, part, "a number")));
  return 1;
}

/// lines_of(starts, count)
int lua_lines_of(lua_State* L) {
  push_array(L, lines_of(array_at(L, 1), check_integer(L, 2, part, "a number")));
  return 1;
}

/// checked_places(op, given, extent, axis, dtype)
int lua_checked_places(lua_State* L) {
  const auto extent = check_integer(L, 3, part, "a number");
  push_array(L, checked_places(std::string(check_string(L, 1, part, "a name")), array_at(L, 2), extent,
                               static_cast<int>(lua_tointeger(L, 4)), dtype_at(L, 5)));
  return 1;
}

/// checked_starts(op, given, count, dtype)
int lua_checked_starts(lua_State* L) {
  const auto count = check_integer(L, 3, part, "a number");
  push_array(L, checked_starts(std::string(check_string(L, 1, part, "a name")), array_at(L, 2), count, dtype_at(L, 4)));
  return 1;
}

/// Pushes the function of sparse.lua that has the handler's name.
int push_handler(lua_State* L) {
  push_import(L, "sparse");
  lua_pushvalue(L, 1);
  lua_gettable(L, -2);
  return 1;
}

}  // namespace

int call_for_sparse(lua_State* L, int count, const char* handler, std::string_view name) {
  bool found = false;
  for (int i = 1; i <= count; ++i) found = found || test<SparseMatrix>(L, i) != nullptr;
  if (!found) return -1;
  lua_pushvalue(L, lua_upvalueindex(bindings_upvalue));
  lua_pushnil(L);
  lua_pushcclosure(L, protect<push_handler>, 2);
  lua_pushstring(L, handler);
  lua_call(L, 1, 1);
  lua_insert(L, 1);
  lua_pushlstring(L, name.data(), name.size());
  lua_insert(L, 2);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

void add_sparse_functions(lua_State* L) {
  new_metatable<SparseMatrix>(L, {});
  lua_newtable(L);
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, sparse_methods_key);
  lua_setfield(L, -2, "methods");
  lua_pop(L, 1);
  set_functions(L, {{"checked_places", protect<lua_checked_places>},
                    {"checked_starts", protect<lua_checked_starts>},
                    {"count_merged", protect<lua_count_merged>},
                    {"diagonal_of_lines", protect<lua_diagonal_of_lines>},
                    {"extreme_of_lines", protect<lua_extreme_of_lines>},
                    {"keep", protect<keep>},
                    {"lines_of", protect<lua_lines_of>},
                    {"lines_of_tiles", protect<lua_lines_of_tiles>},
                    {"merge_lines", protect<lua_merge_lines>},
                    {"multiply_lines", protect<lua_multiply>},
                    {"refuse_sparse_field", protect<refuse_sparse_name>},
                    {"sparse_fields", protect<lua_fields>},
                    {"sparse_matrix", protect<new_matrix>},
                    {"sparse_metatable", protect<lua_metatable>},
                    {"sparse_method", protect<lua_method>},
                    {"starts_of", protect<lua_starts_of>},
                    {"sum_lines", protect<lua_sum_lines>},
                    {"writes", protect<lua_writes>}});
}

}  // namespace gpulua
