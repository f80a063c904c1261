#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

namespace gpulua {

/// True when the list, of texts, has the word.
template <class List>
bool is_one_of(std::string_view word, const List& list) {
  return std::ranges::find(list, word) != std::end(list);
}

}  // namespace gpulua
