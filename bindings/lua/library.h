#pragma once

// The functions of `gpu` that are written in Lua. A file runs when one of its
// functions is first looked up, so a start does not take longer for each function that there is.

#include <lua.hpp>
#include <string>
#include <string_view>

namespace gpulua {

/// The registry keys of the tables of methods that Lua files add to: of arrays, sparse matrices and generators.
inline constexpr const char* array_methods_key = "gpulua.array_methods";
inline constexpr const char* sparse_methods_key = "gpulua.sparse_methods";
inline constexpr const char* generator_methods_key = "gpulua.generator_methods";

/// Pushes the function that is called as receiver + name, "gpu." or "x:" and the like, after its file has run. A name
/// with functions of its own ("blas" of "gpu.") gives their table. Returns false, and pushes nothing, when the library
/// has no such name.
bool push_from_library(lua_State* L, std::string_view receiver, std::string_view name);

/// Runs the files that have not run yet, so that all functions are fields of their tables.
void load_library(lua_State* L);

/// Sets the function that adds to the table it gets, `core`, what the library's Lua files use of C++. It runs before
/// the first of these files.
void set_core_functions(lua_State* L, lua_CFunction add);

/// Pushes what the file name.lua of the library returns, as its import by a Lua file does.
void push_import(lua_State* L, const char* name);

/// Makes a read of a field that is not there an error for the table at the top of the stack, the result of `op`.
void seal_result(lua_State* L, const char* op);

/// Makes a read of a missing field of the table at the top of the stack, whose functions are called as receiver + name,
/// look into the library, and an error where that has none. `message`: see refuse_field.
void seal(lua_State* L, std::string_view receiver, std::string_view message);

/// The same for the functions of `path`, "gpu.blas", and adds the checks of arguments to those that are there. In the
/// place of their table it leaves an empty one, which reads from it: scripts cannot set fields of that.
void seal_functions(lua_State* L, const std::string& path);

}  // namespace gpulua
