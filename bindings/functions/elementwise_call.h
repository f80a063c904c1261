#pragma once

#include <lua.hpp>
#include <string>
#include <vector>

#include "src/user/user_operation.h"

namespace gpulua {

/// The arguments of an operation's call from stack index 2 on, one for each input.
std::vector<Operand> check_operands(lua_State* L, const std::string& name, const std::vector<UserParameter>& inputs);

/// The options of an elementwise operation's call: the table {out =, size =} at stack index `options`, or nothing.
UserCall check_element_call(lua_State* L, int options, const std::string& name);

/// Throws Error unless call.out is empty, or has an array for each output.
void check_out_count(const std::string& name, std::size_t outputs, const UserCall& call);

/// Sets the device of a call whose operands have none.
void set_device(lua_State* L, const std::vector<Operand>& operands, UserCall& call);

/// Runs the operation. Throws Error unless call.out has an array for each output.
std::vector<Array> run_operation(lua_State* L, const UserElementwise& operation, std::vector<Operand> operands,
                                 UserCall call);

/// Pushes the arrays. Returns their number.
int push_arrays(lua_State* L, std::vector<Array> arrays);

}  // namespace gpulua
