#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gpulua {

/// Red, green, blue for each of 256 levels.
using Colormap = std::array<std::array<std::uint8_t, 3>, 256>;

/// The colour map of that name; throws Error that lists the names there are.
Colormap make_colormap(std::string_view name);

}  // namespace gpulua
