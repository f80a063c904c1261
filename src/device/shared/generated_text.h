#pragma once

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

}  // namespace gpulua
