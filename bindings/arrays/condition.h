#pragma once

#include <cstdint>
#include <lua.hpp>
#include <string>
#include <string_view>

namespace gpulua {

struct CallSignature;

/// What is known of the function of the script that has called last: whether the results of its calls, operators and
/// indexings are conditions.
struct CallerConditions {
  std::uint64_t caller = 0;  // the number of Bindings::caller()
  std::uint32_t lines = 0;   // bit i: some are on a line with remainder i
};

/// Throws Error where the result of the running function, which is an array, is a condition of the script at once, as
/// in `if x:any() then`, or is compared with a value by == or ~=: Lua decides both without the array's elements.
/// `is_mask`: an array of bool; others are only looked at in comparisons.
void refuse_condition(lua_State* L, bool is_mask);

/// The same for the result of the library's function `name`, a mask, which the running function is called by.
void refuse_condition_of(lua_State* L, const std::string& name);

/// Throws Error where an array, the result of a function of the library's that is written in Lua, is compared so.
/// `may_be_kept`: the array may be one that the script has, as a column is, and then only constants are not equal.
void refuse_comparison_of(lua_State* L, const CallSignature& signature, bool may_be_kept);

/// The same for the result of a metamethod: of an operator, by the name of its operation, or "index". It is found where
/// all of the line that are the same operator are used so: `x % 2 == 0`, `x[{i}] == 0`.
void refuse_condition_of_operator(lua_State* L, std::string_view name, bool is_mask);

/// The same for the column `name` of a table, t.name, which the running function of the library's gives.
void refuse_condition_of_column(lua_State* L, const std::string& name, bool is_mask);

/// The same for the array that a call of an array selects, x(i, j).
void refuse_condition_of_selection(lua_State* L, bool is_mask);

}  // namespace gpulua
