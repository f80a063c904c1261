#pragma once

#include <string>
#include <string_view>

namespace gpulua {

/// For JSON, which has no bytes.
std::string base64(std::string_view bytes);

/// Jupyter counts positions in code in Unicode characters. The byte where the character `place` begins; the end for a
/// position after it.
std::size_t byte_of(std::string_view code, int place);
int place_of(std::string_view code, std::size_t byte);

/// The name before the byte, as completion takes it: "gpu.su" of "x = gpu.su".
std::string_view name_before(std::string_view code, std::size_t byte);

/// The name around the byte or, with none there, that of the call whose arguments are there: "gpu.sum" in "gpu.sum(x,
/// |)".
std::string_view name_around(std::string_view code, std::size_t byte);

/// The length of the text without the beginning of a character whose other bytes have yet to come.
std::size_t whole_characters(std::string_view text);

}  // namespace gpulua
