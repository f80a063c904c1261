#pragma once

// Derivatives of Lua functions for a device.

#include <lua.hpp>
#include <vector>

#include "bindings/functions/element_function.h"

namespace gpulua {

class NodeObserver;

/// The registry key of a table: by each function that gpu.grad or gpu.value_and_grad has made a list of the function
/// that it differentiates, whether it gives the value, and the positions of the arguments.
inline constexpr const char* differentiated_key = "gpulua.differentiated";

bool is_differentiated(lua_State* L, int index);

/// Pushes the Lua function of an object, as push_function_of() does, or the one from which gpu.grad made the function at
/// `index`, in one step or several: each step is added to `derivatives`, the innermost first.
bool push_differentiated(lua_State* L, int index, std::vector<luafn::Differentiation>& derivatives);

/// Runs the function for the arguments that were added to `captured`. Each observer, from `observer` on outwards,
/// learns of the derivatives by the arguments that it follows.
std::vector<Array> run_observed(lua_State* L, const ElementFunction& elements, int function, CapturedValues& captured,
                                NodeObserver* observer);

}  // namespace gpulua
