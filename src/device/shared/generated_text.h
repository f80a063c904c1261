#pragma once

#include <string>
#include <string_view>

namespace gpulua {

/// The name of text that the library has written, for KernelSource::file and `#line`.
inline constexpr std::string_view generated_file = "gpulua";

/// The messages of a compiler without notes about such text: a script cannot see it.
std::string without_generated_notes(std::string_view messages);

}  // namespace gpulua
