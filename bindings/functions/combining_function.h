#pragma once

// A Lua function that combines two values, in place of the text of a reduction or a scan.

#include <lua.hpp>
#include <string>

#include "src/user/user_text.h"

namespace gpulua {

/// The function's text for values of one dtype: `preamble` defines what `expression`, of a and b, calls.
struct CombiningText {
  UserText preamble, expression;
};

/// Translates the function at stack index `function`, of two values of that dtype. Captured numbers are constants of
/// the text. Throws Error for a function that captures arrays.
CombiningText translate_combination(lua_State* L, int function, const std::string& name, DType dtype);

}  // namespace gpulua
