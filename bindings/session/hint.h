#pragma once

#include <lua.hpp>
#include <optional>
#include <string_view>

namespace gpulua {

/// May a hint about a running script's error read the file that the error names? Not where others write the scripts.
enum class HintFiles { read, left };

/// Appends a hint (library/module/hint.lua) to the message at the top of the stack, if there is one. `text`: what the
/// parser has refused; nothing: the message is of a running script, or of a file.
void add_hint(lua_State* L, std::optional<std::string_view> text, HintFiles files);

/// The same for a message handler: Lua's own messages about a nil value, a table in arithmetic, the length of an FFI
/// array, a module that does not parse or is not there.
void add_running_hint(lua_State* L, HintFiles files);

}  // namespace gpulua
