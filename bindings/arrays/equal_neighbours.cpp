#include "bindings/arrays/equal_neighbours.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace gpulua {

namespace {

constexpr double rounding = 1e-12;  // relative
constexpr double most_spread = 0.25;

/// The position of an element in the list: "2", or "[1][2]" in nested ones.
std::string element_text(const std::vector<int>& position, int step) {
  if (position.size() == 1) return std::to_string(position[0] + step);
  std::string text;
  for (std::size_t i = 0; i < position.size(); ++i)
    text += fmt::format("[{}]", position[i] + (i + 1 == position.size() ? step : 0));
  return text;
}

}  // namespace

void EqualNeighbours::begin() {
  found_.reset();
  last_.reset();
  least_ = std::numeric_limits<double>::infinity();
  greatest_ = -least_;
}

void EqualNeighbours::note(double number, const std::vector<int>& position) {
  if (!text_.empty() || position.empty()) return;
  if (!std::isfinite(number)) {
    last_.reset();
    return;
  }
  least_ = std::min(least_, number);
  greatest_ = std::max(greatest_, number);
  if (last_ && !found_ && number != *last_) {
    const auto rounded = static_cast<float>(number);
    if (rounded == static_cast<float>(*last_) && rounded != 0 &&
        std::abs(number - *last_) > rounding * std::abs(number))
      found_ = Pair{*last_, number, position};
  }
  last_ = number;
}

void EqualNeighbours::end() {
  if (!found_) return;
  if (greatest_ - least_ <= most_spread * std::max(std::abs(least_), std::abs(greatest_)))
    text_ = fmt::format("elements {} and {}, {} and {},", element_text(found_->position, -1),
                        element_text(found_->position, 0), found_->first, found_->second);
  found_.reset();
}

}  // namespace gpulua
