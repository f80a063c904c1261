#pragma once

#include <string>
#include <string_view>

namespace gpulua {

/// What a compiler's messages leave out and a script's author needs: the header that declares an unknown name, what
/// stands in for a function of host programs. One line for each, to be put after the messages; empty where there is
/// nothing to say. `messages` are clang's or NVRTC's.
std::string compile_hints(std::string_view messages);

}  // namespace gpulua
