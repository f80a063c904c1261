#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gpulua {

/// How many bytes at the start of a text are characters of UTF-8.
std::size_t utf8_length(std::string_view text);

/// The text with U+FFFD in the place of each byte that UTF-8 does not have there.
std::string valid_utf8(std::string_view text);

}  // namespace gpulua
