#include "bindings/arrays/equal_neighbours.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gpulua {

namespace {

constexpr double rounding = 1e-12;  // relative
constexpr double most_spread = 0.25;

/// The position of an element in the list: "2", or "[1][2]" in nested ones.
std::string element_text(const std::vector<int>& position) {
  if (position.size() == 1) return std::to_string(position[0]);
  std::string text;
  for (const int part : position) text += fmt::format("[{}]", part);
  return text;
}

}  // namespace

void EqualNeighbours::Line::note(double number, const std::vector<int>& position, std::size_t axis) {
  if (!std::isfinite(number)) {
    last_.reset();
    return;
  }
  least_ = std::min(least_, number);
  greatest_ = std::max(greatest_, number);
  if (last_ && !found_ && number != *last_) {
    const auto rounded = static_cast<float>(number);
    if (rounded == static_cast<float>(*last_) && rounded != 0 &&
        std::abs(number - *last_) > rounding * std::abs(number)) {
      found_ = Pair{*last_, number, position, position};
      --found_->first_position[axis];
    }
  }
  last_ = number;
}

void EqualNeighbours::Line::end(std::string& text) const {
  if (!found_ || greatest_ - least_ > most_spread * std::max(std::abs(least_), std::abs(greatest_))) return;
  text = fmt::format("elements {} and {}, {} and {},", element_text(found_->first_position),
                     element_text(found_->second_position), found_->first, found_->second);
}

void EqualNeighbours::note(double number, const std::vector<int>& position) {
  if (!text_.empty() || position.empty()) return;
  row_.note(number, position, position.size() - 1);
  if (position.size() != 2) return;
  const auto column = static_cast<std::size_t>(position[1]);
  if (column > columns_.size()) columns_.resize(column);
  columns_[column - 1].note(number, position, 0);
}

void EqualNeighbours::end(std::size_t depth) {
  if (text_.empty()) row_.end(text_);
  row_ = {};
  for (std::size_t i = 0; depth == 0 && text_.empty() && i < columns_.size(); ++i) columns_[i].end(text_);
}

}  // namespace gpulua
