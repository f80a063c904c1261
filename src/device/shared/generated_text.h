#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "src/device/kernel.h"

namespace gpulua {

/// The name of text that the library has written, for KernelSource::file and `#line`.
inline constexpr std::string_view generated_file = "gpulua";

/// The source of a kernel that the library has written.
KernelSource own_source(std::string text);

/// The messages of a compiler without notes about such text: a script cannot see it.
std::string without_generated_notes(std::string_view messages);

/// The first ten errors of a compiler's messages, with their notes, and how many more there are. What one mistake sets
/// off hides the hints that come after it.
std::string first_errors(std::string_view messages);
/// How many errors the messages have, and first_errors() of them.
std::size_t count_errors(std::string_view messages);

}  // namespace gpulua
