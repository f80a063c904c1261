#pragma once

// The C and C++ standard headers as kernels have them, on both devices: files of src/device/headers, compiled in. NVRTC
// has none, and those of a host's library are not for device code.

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "src/device/kernel.h"

namespace gpulua {

struct StandardHeader {
  std::string_view name;  // as in #include <name>
  std::string_view text;
};

/// They include each other as "gpulua/..."; the names of the standard come after those.
std::span<const StandardHeader> standard_headers();
/// The part of them that has the standard's names.
std::span<const StandardHeader> public_headers();

/// They have all names that nvcc's own headers bring without an #include.
inline constexpr std::array implicit_headers{"gpulua/names.h", "gpulua/std.h"};

}  // namespace gpulua
