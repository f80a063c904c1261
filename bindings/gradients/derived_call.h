#pragma once

// Calls of the library's functions while a derivative is wanted.

#include <lua.hpp>

#include "bindings/lua/lua.h"

namespace gpulua {

struct CallSignature;
class Context;
class NodeObserver;

/// The registry key of the rules of derivatives: a Lua function for each function whose work is more than operations on
/// arrays that the observer sees, by its name; by itself, if only the library has it. library/gradients/ has them.
inline constexpr const char* rules_key = "gpulua.derivative_rules";
/// The registry key of the functions whose results are constants, by their names or themselves.
inline constexpr const char* constants_key = "gpulua.derivative_constants";

/// Whether the observer follows one of the values from `first` to `last`, or an array in a table there.
bool depends(lua_State* L, int first, int last, NodeObserver& observer);

/// Runs the function as part of what the observer follows. Throws Error when its results depend on a variable and the
/// observer does not know how.
int run_derived(lua_State* L, LuaFunction function, const CallSignature* signature);

/// Notes that the rule at the stack's `rule`, a Lua function, has the derivative of a call whose arguments are the
/// values from `first` on, `arguments` of them, followed by its results. The call becomes a table: `rule`, `arguments`,
/// `arrays`, those among the arguments and in lists there, with a sparse matrix's nonzeros, and `results`.
void note_call(lua_State* L, int rule, int first, int arguments, Context& context);

}  // namespace gpulua
