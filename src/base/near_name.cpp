#include "src/base/near_name.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace gpulua {

namespace {

char small(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

/// The edits that a name of this length may be away: a short one is soon another name altogether.
std::size_t tolerance(std::size_t length) {
  return length <= 2 ? 0 : length <= 4 ? 1 : length <= 8 ? 2 : 3;
}

/// True when one is the beginning of the other, and most of it: "concat" of "concatenate".
bool begins(std::string_view a, std::string_view b) {
  const std::string_view shorter = a.size() < b.size() ? a : b;
  const std::string_view longer = a.size() < b.size() ? b : a;
  return shorter.size() >= 3 && 2 * shorter.size() >= longer.size() &&
         std::equal(shorter.begin(), shorter.end(), longer.begin(),
                    [](char x, char y) { return small(x) == small(y); });
}

/// True when the names differ in nothing but how often a letter is repeated: "f" of "ff".
bool repeats(std::string_view a, std::string_view b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size() && small(a[i]) == small(b[j])) {
    const char letter = small(a[i]);
    while (i < a.size() && small(a[i]) == letter) ++i;
    while (j < b.size() && small(b[j]) == letter) ++j;
  }
  return i == a.size() && j == b.size();
}

constexpr std::size_t most_shown = 16;

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (small(a[i - 1]) != small(b[j - 1]));
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      const bool exchanged = i > 1 && j > 1 && small(a[i - 1]) == small(b[j - 2]) && small(a[i - 2]) == small(b[j - 1]);
      if (exchanged) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row.back();
}

void NearName::offer(std::string_view name, std::string_view shown) {
  // Text from outside may have any length, and what takes this many letters is no name.
  constexpr std::size_t longest = 200;
  if (unknown_.size() > longest || name.size() > longest) return;
  if (offered_.size() <= most_shown) offered_.emplace_back(shown);
  const std::size_t allowed = tolerance(unknown_.size());
  std::size_t distance = edit_distance(unknown_, name);
  if (distance > allowed) {
    if (!begins(unknown_, name) && !repeats(unknown_, name)) return;
    distance = allowed + 1;
  }
  // Of several the first in the alphabet, so that the message is the same whatever the order of the names.
  if (distance > least_ || (distance == least_ && shown >= best_)) return;
  least_ = distance;
  best_ = shown;
}

std::string NearName::question_or_names() const {
  if (!best_.empty() || offered_.empty() || offered_.size() > most_shown) return question();
  std::vector<std::string> names = offered_;
  std::ranges::sort(names);
  std::string text = "; it has ";
  for (const std::string& name : names) text += (&name == &names.front() ? "" : ", ") + name;
  return text;
}

std::string NearName::question() const {
  return best_.empty() ? "" : "; did you mean \"" + best_ + "\"?";
}

}  // namespace gpulua
