#pragma once

#include <string_view>

namespace gpulua {

/// Whether the text of Lua has `local name`, among others or as a function's.
bool has_local(std::string_view text, std::string_view name);

}  // namespace gpulua
