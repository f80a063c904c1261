#include "bindings/data/colormap.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "src/base/error.h"

namespace gpulua {

namespace {

/// The colour at a position from 0 to 1. Colours between stops are interpolated.
struct Stop {
  double place;
  std::uint8_t red, green, blue;
};

constexpr Stop gray[] = {{0, 0, 0, 0}, {1, 255, 255, 255}};

// A black body of rising temperature: first red increases, then green, then blue.
constexpr Stop hot[] = {{0, 10, 0, 0}, {3 / 8.0, 255, 0, 0}, {6 / 8.0, 255, 255, 0}, {1, 255, 255, 255}};

// Ten evenly spaced colours of viridis and inferno, which van der Walt and Smith made perceptually uniform.
constexpr Stop viridis[] = {{0 / 9.0, 68, 1, 84},    {1 / 9.0, 72, 40, 120},  {2 / 9.0, 62, 74, 137},
                            {3 / 9.0, 49, 104, 142}, {4 / 9.0, 38, 130, 142}, {5 / 9.0, 31, 158, 137},
                            {6 / 9.0, 53, 183, 121}, {7 / 9.0, 109, 205, 89}, {8 / 9.0, 180, 222, 44},
                            {9 / 9.0, 253, 231, 37}};
constexpr Stop inferno[] = {{0 / 9.0, 0, 0, 4},      {1 / 9.0, 27, 12, 66},  {2 / 9.0, 75, 12, 107},
                            {3 / 9.0, 120, 28, 109}, {4 / 9.0, 165, 44, 96}, {5 / 9.0, 207, 68, 70},
                            {6 / 9.0, 237, 105, 37}, {7 / 9.0, 251, 154, 6}, {8 / 9.0, 247, 208, 60},
                            {9 / 9.0, 252, 255, 164}};

struct NamedMap {
  std::string_view name;
  std::span<const Stop> stops;
};
constexpr NamedMap maps[] = {{"gray", gray}, {"hot", hot}, {"inferno", inferno}, {"viridis", viridis}};

}  // namespace

Colormap make_colormap(std::string_view name) {
  const auto* map =
      std::find_if(std::begin(maps), std::end(maps), [&](const NamedMap& row) { return row.name == name; });
  if (map == std::end(maps)) {
    std::string names;
    for (const NamedMap& row : maps) names += (names.empty() ? "" : ", ") + std::string(row.name);
    throw Error("[colormap] expected one of {}, got \"{}\"", names, name);
  }

  Colormap colors;
  const Stop* stop = map->stops.data();  // the last one at or before the level
  for (std::size_t level = 0; level < colors.size(); ++level) {
    const double place = static_cast<double>(level) / 255;
    while (stop + 2 < map->stops.data() + map->stops.size() && stop[1].place <= place) ++stop;
    const double weight = (place - stop[0].place) / (stop[1].place - stop[0].place);
    const auto mix = [&](std::uint8_t from, std::uint8_t to) {
      return static_cast<std::uint8_t>(std::lround(from + weight * (to - from)));
    };
    colors[level] = {mix(stop[0].red, stop[1].red), mix(stop[0].green, stop[1].green), mix(stop[0].blue, stop[1].blue)};
  }
  return colors;
}

}  // namespace gpulua
