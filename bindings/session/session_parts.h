#pragma once

// The parts of the module `gpu`, and of the methods of arrays, that this folder defines.

#include <lua.hpp>

namespace gpulua {

// These add functions to the `gpu` table at the top of the stack.
void open_check(lua_State* L);
void open_evaluation(lua_State* L);
void open_memory(lua_State* L);

/// Adds methods to the method table of arrays, at the top of the stack.
void open_evaluation_methods(lua_State* L);

/// The registry key of a function that returns the report of Config::profile as text. Nil before require "gpu".
inline constexpr const char* profile_report_key = "gpulua.profile_report";
/// Stores that function.
void open_measuring(lua_State* L);
/// These add the C++ functions for measure.lua and tracing.lua to the table at the top of the stack.
void add_measuring(lua_State* L);
void add_tracing(lua_State* L);

/// Computes the arrays among the values from the stack index on.
void evaluate_arrays(lua_State* L, int first);

}  // namespace gpulua
