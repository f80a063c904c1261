#pragma once

#include "bindings/lua/lua.h"
#include "src/algorithms/sparse.h"

namespace gpulua {

/// A sparse matrix. Its fields are in a table, the environment of the userdata; the files sparse*.lua know their
/// meaning.
struct SparseMatrix {};

template <>
struct LuaType<SparseMatrix> {
  static constexpr const char* name = "a sparse matrix";
};

/// Pushes the table of fields of the matrix at `index`.
inline void push_fields(lua_State* L, int index) {
  lua_getfenv(L, index);
}

/// In a lua_CFunction: when one of the first `count` arguments is a sparse matrix, calls the function `handler`(name,
/// arguments...) and returns its number of results, else -1. An error of the call passes through, so no C++ object with
/// a destructor may be alive.
int call_for_sparse(lua_State* L, int count, const char* handler, std::string_view name);

/// The lines in the three arguments from `index` on.
SparseLines sparse_lines_at(lua_State* L, int index);

}  // namespace gpulua
