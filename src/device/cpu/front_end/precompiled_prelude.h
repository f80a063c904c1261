#pragma once

// The prelude as clang's precompiled headers, made by the build and compiled in: one for each C++ standard, and for the
// default one also with headers that take long to parse. clang reads only the declarations that a source uses.

#include <string>
#include <string_view>
#include <vector>

namespace gpulua::cpu {

struct PrecompiledPrelude {
  std::string_view header;  // as clang wrote it
  std::string_view macros;  // the version's line, then the `#define`s that clang started from
};

/// The one with most of the headers, and no others. Null if there is none for the standard and this version of clang.
const PrecompiledPrelude* precompiled_prelude(std::string_view standard, const std::vector<std::string_view>& headers,
                                              std::string_view clang_version);

/// With the kernel headers (kernel_headers.h), for the default standard. Null if this version of clang cannot read it.
const PrecompiledPrelude* precompiled_kernels(std::string_view clang_version);

/// The first line of the macros: the version of clang that wrote them.
inline std::string version_line(std::string_view clang_version) {
  return "// " + std::string(clang_version) + "\n";
}

}  // namespace gpulua::cpu
