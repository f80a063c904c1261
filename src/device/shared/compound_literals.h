#pragma once

#include <string>
#include <string_view>

namespace gpulua {

/// A template that names the type T by itself, for with_typed_braces(). One line.
inline constexpr std::string_view typed_braces = "template <class T> using gpulua_typed = T;\n";

/// The text with C's compound literals, `(float2) {x, y}`, as C++ writes them: `gpulua_typed<float2> {x, y}`. nvcc
/// takes them, with the host's compiler; NVRTC does not. Also in macros. Lines stay.
std::string with_typed_braces(std::string_view text);

}  // namespace gpulua
