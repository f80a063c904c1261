#pragma once

#include <cstddef>

namespace gpulua {

/// The width of the terminal on the standard output; 80 without a terminal.
std::size_t terminal_width();

}  // namespace gpulua
