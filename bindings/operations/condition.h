#pragma once

#include <cstdint>
#include <lua.hpp>
#include <string>

namespace gpulua {

/// What is known of the function of the script that has called last: whether results of its calls are conditions.
struct CallerConditions {
  std::uint64_t caller = 0;  // the number of Bindings::caller()
  bool none = false;
};

/// Throws Error where the result of the running function, which is an array, is a condition of the script at once, as
/// in `if x:any() then`, or is compared with a number: Lua decides both without the array's elements. `is_mask`: an
/// array of bool; others are only looked at in comparisons.
void refuse_condition(lua_State* L, bool is_mask);

/// The same for the result of the library's function `name`, a mask, which the running function is called by.
void refuse_condition_of(lua_State* L, const std::string& name);

}  // namespace gpulua
