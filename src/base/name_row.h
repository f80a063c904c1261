#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

namespace gpulua {

/// A name of another library's or language's, and its equivalent here. Tables of them are sorted by name.
struct NameRow {
  std::string_view name;
  std::string_view here;
};

/// The equivalent in a table; empty for a name that is not there.
template <std::size_t count>
constexpr std::string_view here_of(const NameRow (&table)[count], std::string_view name) {
  const NameRow* row = std::ranges::lower_bound(table, name, {}, &NameRow::name);
  return row != std::end(table) && row->name == name ? row->here : std::string_view();
}

}  // namespace gpulua
