#pragma once

#include <lua.hpp>
#include <string>
#include <string_view>

namespace gpulua {

class NearName;

/// Offers the names in the table at `index`.
void offer_names(lua_State* L, int index, NearName& near);

/// How the message begins about a name that an object of that type does not have: `[kernel] a kernel has no field or
/// method `.
std::string no_field(std::string_view type);

/// Throws Error: `message`, the key at `key`, and the question that `near` has about it:
/// `[kernel] a kernel has no field or method "nmae"; did you mean "name"?`.
[[noreturn]] void refuse_field(lua_State* L, const std::string& message, int key, const NearName& near);

/// Makes an error of reading what the table at the top of the stack does not have. `message` is as of refuse_field.
void refuse_unknown_fields(lua_State* L, const std::string& message);

/// The name at `index`, for a NearName; empty when there is none.
std::string_view name_at(lua_State* L, int index);

}  // namespace gpulua
