#pragma once

// A Lua function that runs for each element of its arguments: what gpu.vectorize makes, and the function in place of a
// text in gpu.elementwise and gpu.reduction.

#include <lua.hpp>
#include <string>
#include <vector>

#include "bindings/captured_values.h"
#include "src/user/user_operation.h"

namespace gpulua {

struct ElementFunction {
  std::string name;              // for messages and kernels
  bool contract = true;          // products and sums may be rounded as one
  std::vector<DType> results{};  // what the results are converted to; empty: they have the function's own dtypes
};

/// Throws Error unless the function at `function` has `count` parameters.
void check_parameters(lua_State* L, int function, const std::string& name, std::size_t count);

/// Runs the function at stack index `function` for the arguments that were added to `captured`. Gives its results, as
/// UserElementwise does.
std::vector<Array> run_elements(lua_State* L, const ElementFunction& elements, int function, CapturedValues& captured,
                                const UserCall& call);

/// Runs the function for declared parameters: the operands' dtypes are checked, and numbers converted, as for a text.
std::vector<Array> run_declared(lua_State* L, const std::string& name, int function,
                                const std::vector<UserParameter>& inputs, const std::vector<UserParameter>& outputs,
                                const std::vector<Operand>& operands, const UserCall& call);

}  // namespace gpulua
