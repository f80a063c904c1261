#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace gpulua {

/// Red, green and blue for each of 256 levels.
using Colormap = std::array<std::array<std::uint8_t, 3>, 256>;

/// A map's name and its evenly spaced colours from the least value on, six hexadecimal digits each.
struct NamedColormap {
  std::string_view name, stops;
};

std::span<const NamedColormap> colormaps();

/// The colour map named `name`. Throws Error with a list of the names for an unknown one.
Colormap make_colormap(std::string_view name);

}  // namespace gpulua
