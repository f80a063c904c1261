#pragma once

#include <string>
#include <string_view>

namespace gpulua {

/// The text, which is UTF-8, in quotes, as JSON has it.
std::string to_json(std::string_view text);

/// The text with U+FFFD in the place of each byte that UTF-8 does not have there.
std::string valid_utf8(std::string_view text);

}  // namespace gpulua
