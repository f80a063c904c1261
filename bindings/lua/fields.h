#pragma once

#include <lua.hpp>
#include <string>
#include <string_view>

namespace gpulua {

class NearName;

/// Offers the string keys of the table at `index` to `near`.
void offer_names(lua_State* L, int index, NearName& near);

/// The start of the message about an unknown name: `[kernel] a kernel has no field or method `.
std::string no_field(std::string_view type);

/// Throws Error with `message`, the key at stack index `key`, and the suggestion of `near`: `[kernel] a kernel has no
/// field or method "nmae"; did you mean "name"?`.
[[noreturn]] void refuse_field(lua_State* L, const std::string& message, int key, const NearName& near);

/// The string at `index`, for a NearName; empty for another value.
std::string_view name_at(lua_State* L, int index);

}  // namespace gpulua
