#pragma once

#include <string>
#include <string_view>

namespace gpulua {

/// The text, which is UTF-8, in quotes, as JSON has it.
std::string to_json(std::string_view text);

}  // namespace gpulua
