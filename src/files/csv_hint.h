#pragma once

// What is unusual about a table in text that cannot be read as it should.

#include <span>
#include <string>
#include <string_view>

namespace gpulua {

/// Throws Error for text in UTF-16 instead of UTF-8.
void refuse_utf16(std::span<const char> bytes, const std::string& file);

/// Throws Error for text whose lines end with "\r" alone, which would be one line.
void refuse_lone_returns(const std::string& op, std::string_view text, const std::string& file);

/// Throws Error if the lines from `at` on are not single fields but have another separator than `separator`.
void refuse_other_separator(const char* at, const char* end, char separator, const std::string& file);

/// How to read a file whose lines from `first` on have as many fields as that one, but for the line `at`; "" where
/// nothing tells.
std::string advice_for_lines(const char* first, const char* at, const char* end, char separator);

}  // namespace gpulua
