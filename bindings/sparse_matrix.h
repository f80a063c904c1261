#pragma once

#include "bindings/lua.h"

namespace gpulua {

/// A sparse matrix. Its fields are in a table, the environment of the userdata; the files sparse*.lua know their
/// meaning.
struct SparseMatrix {};

template <>
struct LuaType<SparseMatrix> {
  static constexpr const char* name = "a sparse matrix";
};

/// The registry key of the table of their methods.
inline constexpr const char* sparse_methods_key = "gpulua.sparse_methods";

/// Pushes the table of fields of the matrix at `index`.
inline void push_fields(lua_State* L, int index) {
  lua_getfenv(L, index);
}

/// In a lua_CFunction: when one of the first `count` arguments is a sparse matrix, calls core.sparse[handler](name,
/// arguments...) and returns its number of results, else -1. An error of the call passes through, so no C++ object with
/// a destructor may be alive.
int call_for_sparse(lua_State* L, int count, const char* handler, std::string_view name);

}  // namespace gpulua
