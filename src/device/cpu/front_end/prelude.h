#pragma once

// The headers that replace NVIDIA's and the standard library's: files of src/device/cpu/headers and src/device/headers,
// compiled in.

#include <span>
#include <string_view>

namespace gpulua::cpu {

struct PreludeHeader {
  std::string_view name;  // as in #include <name>
  std::string_view text;
};

/// The headers that a kernel may include. "gpulua_cpu.h" is included before every source; it includes the others
/// whose name starts with "gpulua_".
std::span<const PreludeHeader> prelude_headers();

}  // namespace gpulua::cpu
