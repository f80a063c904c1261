#pragma once

// The prelude as clang's precompiled headers, made by the build and compiled in: one for each C++ standard, and more
// for the default one, with headers that take long to parse. clang reads of one only what a source uses.

#include <string>
#include <string_view>
#include <vector>

namespace gpulua::cpu {

struct PrecompiledPrelude {
  std::string_view header;  // as clang wrote it
  std::string_view macros;  // behind the version's line, the `#define`s that clang started from
};

/// The one with the most of the headers, and with no other. Null where there is none for the standard, or none that
/// this version of clang can read.
const PrecompiledPrelude* precompiled_prelude(std::string_view standard, const std::vector<std::string_view>& headers,
                                              std::string_view clang_version);

/// How the macros start, for the version that they were made with.
inline std::string version_line(std::string_view clang_version) {
  return "// " + std::string(clang_version) + "\n";
}

}  // namespace gpulua::cpu
