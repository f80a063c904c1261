#pragma once

// A Lua function that runs for each element of its arguments: what gpu.vectorize makes, and the function in place of a
// text in gpu.elementwise and gpu.reduction.

#include <lua.hpp>
#include <string>
#include <vector>

#include "bindings/functions/captured_values.h"
#include "src/user/user_operation.h"

namespace gpulua {

struct ElementFunction {
  std::string name;              // for messages and kernels
  bool contract = true;          // products and sums may be rounded as one
  std::vector<DType> results{};  // what the results are converted to; empty: they have the function's own dtypes
  std::vector<std::vector<std::size_t>> levels{};  // of derivatives: luafn::TranslationRequest
};

/// Throws Error, with `remedy` at its end, unless the function at `function` has `count` parameters.
void check_parameters(lua_State* L, int function, const std::string& name, std::size_t count,
                      const std::string& remedy = "");

/// What the function at stack index `function`, always the same one, is for the arguments that were added to
/// `captured`.
std::shared_ptr<const FunctionVariant> element_variant(lua_State* L, const ElementFunction& elements, int function,
                                                       CapturedValues& captured);
/// luafn::Code::varies of the function.
std::vector<bool> results_that_vary(lua_State* L, const ElementFunction& elements, int function,
                                    CapturedValues& captured);
/// True if the variant is still that of the values, which have been read anew: checks may have been turned on or off.
bool is_current(lua_State* L, const FunctionVariant& variant, const CapturedValues& captured);
/// Runs the variant for the values. Gives its results, as UserElementwise does.
std::vector<Array> run_variant(lua_State* L, const FunctionVariant& variant, const CapturedValues& captured,
                               const UserCall& call);
/// Both, for arguments that were added to `captured`.
std::vector<Array> run_elements(lua_State* L, const ElementFunction& elements, int function, CapturedValues& captured,
                                const UserCall& call);

/// Runs the function for declared parameters: the operands' dtypes are checked, and numbers converted, as for a text.
std::vector<Array> run_declared(lua_State* L, const std::string& name, int function,
                                const std::vector<UserParameter>& inputs, const std::vector<UserParameter>& outputs,
                                const std::vector<Operand>& operands, const UserCall& call);

}  // namespace gpulua
