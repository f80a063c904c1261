#pragma once

// What reading and writing dates as text have in common.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "src/files/date_text.h"

namespace gpulua::dates {

inline constexpr std::int64_t second = 1'000'000'000, day_length = 86400 * second;
inline constexpr std::array<std::string_view, 5> unit_names{"days", "s", "ms", "us", "ns"};
inline constexpr std::array<std::int64_t, 5> unit_lengths{day_length, second, 1'000'000, 1000, 1};
inline constexpr std::array<int, 5> unit_decimals{0, 0, 3, 6, 9};
inline constexpr std::array<std::string_view, 12> months{"January",   "February", "March",    "April",
                                                         "May",       "June",     "July",     "August",
                                                         "September", "October",  "November", "December"};
inline constexpr std::array<std::string_view, 7> weekdays{"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                          "Thursday", "Friday", "Saturday"};
inline constexpr std::size_t short_name = 3;

inline std::int64_t length_of(DateUnit unit) {
  return unit_lengths[static_cast<std::size_t>(unit)];
}

/// Calls plain(c) with each character of a format, and part(letter) with each letter after a %.
template <class Plain, class Part>
void for_each_part(std::string_view format, const Plain& plain, const Part& part) {
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] == '%' && i + 1 < format.size())
      part(format[++i]);
    else
      plain(format[i]);
  }
}

}  // namespace gpulua::dates
