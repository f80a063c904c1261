#pragma once

#include <string>
#include <string_view>

namespace gpulua {

/// Hints on the messages of clang or NVRTC: the header that declares an unknown name, the replacement for a function of
/// host programs. One line for each, to stand after the messages; empty where there is no hint.
std::string compile_hints(std::string_view messages);

}  // namespace gpulua
