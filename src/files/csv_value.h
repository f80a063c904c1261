#pragma once

// What a field of a CSV file says.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "src/files/csv.h"

namespace gpulua {

enum class CsvKind : std::uint8_t { missing, boolean, integer, large_integer, real, date, text };

/// The value of a field: a bool, int64, uint64 or double by its kind; nothing for missing ones and text.
struct CsvValue {
  CsvKind kind;
  std::uint64_t bits = 0;
};

CsvValue csv_value(std::string_view field, const CsvNumbers& numbers);

/// A number as the file writes it in the form of std::from_chars, in `room` or the field itself; empty for text that
/// cannot be one.
std::string_view plain_number(std::string_view field, const CsvNumbers& numbers, std::string& room);

/// The number that the whole text says, correctly rounded; infinite or zero beyond the type's range. Nothing for other
/// text.
template <class T>
std::optional<T> csv_real(std::string_view text);

/// The field without the spaces and tabs around it.
std::string_view without_spaces(std::string_view field);

/// Whether an integer begins with a 0 before other digits, as codes do: 037833100.
inline bool is_code(std::string_view integer) {
  return integer.size() > 1 && integer[0] == '0' && static_cast<unsigned>(integer[1] - '0') < 10;
}

/// The powers of ten that are exact in the type.
template <class T>
inline constexpr auto exact_powers = std::to_array<T>({1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                       1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                       1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22});
template <>
inline constexpr auto exact_powers<float> = std::to_array<float>({1e0F, 1e1F, 1e2F, 1e3F, 1e4F, 1e5F, 1e6F, 1e7F, 1e8F,
                                                                  1e9F, 1e10F});

/// A decimal number of up to 18 digits, without an exponent: digits / 10^decimals.
struct ShortNumber {
  std::uint64_t digits = 0;
  int decimals = 0;
  bool negative = false, has_point = false;
};

/// Reads a short number at the start of [at, end). Returns where it ends; null for any other text.
inline const char* read_short(const char* at, const char* end, ShortNumber& number, char decimal = '.') {
  number = {};
  if (at != end && *at == '-') {
    number.negative = true;
    ++at;
  }
  constexpr std::ptrdiff_t most_digits = 18;
  const auto read_digits = [&] {
    const char* const first = at;
    for (unsigned digit; at != end && (digit = static_cast<unsigned>(*at - '0')) < 10; ++at)
      number.digits = number.digits * 10 + digit;
    return at - first;
  };
  const std::ptrdiff_t whole = read_digits();
  std::ptrdiff_t decimals = 0;
  if (at != end && *at == decimal) {
    number.has_point = true;
    ++at;
    decimals = read_digits();
  }
  if (whole + decimals == 0 || whole + decimals > most_digits) return nullptr;
  number.decimals = static_cast<int>(decimals);
  return at;
}

/// The number correctly rounded, where one division in the type gives that; nothing for others.
template <class T>
std::optional<T> value_of(const ShortNumber& number) {
  constexpr std::uint64_t most_digits = std::uint64_t{1} << std::numeric_limits<T>::digits;
  const auto decimals = static_cast<std::size_t>(number.decimals);
  if (number.digits > most_digits || decimals >= exact_powers<T>.size()) return std::nullopt;
  const T value = static_cast<T>(number.digits) / exact_powers<T>[decimals];
  return number.negative ? -value : value;
}

}  // namespace gpulua
