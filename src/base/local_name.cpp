#include "src/base/local_name.h"

#include <algorithm>
#include <cstddef>

#include "src/base/characters.h"

namespace gpulua {

bool has_local(std::string_view text, std::string_view name) {
  const auto is_part = [&](std::size_t at) { return at < text.size() && is_word(text[at]); };
  constexpr std::string_view local = "local ";
  constexpr std::size_t most_before = 200;
  for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    if (is_part(at + name.size()) || (at > 0 && is_part(at - 1))) continue;
    // A long line has many of the name.
    const std::size_t first = at > most_before ? at - most_before : 0;
    const std::string_view before = text.substr(first, at - first), line = before.substr(before.rfind('\n') + 1);
    const std::size_t begin = line.rfind(local);
    if (begin == line.npos || (begin > 0 && is_word(line[begin - 1]))) continue;
    const std::string_view between = line.substr(begin + local.size());
    const bool is_list = std::ranges::all_of(between, [](char c) { return is_word(c) || c == ',' || c == ' '; });
    if (is_list && (between == "function " || between.find("function ") == between.npos)) return true;
  }
  return false;
}

}  // namespace gpulua
