#include "src/files/csv_value.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>

namespace gpulua {

namespace {

constexpr std::string_view usual_missing[] = {"",    "NA",   "N/A",  "#N/A", "n/a",  "NaN",
                                              "nan", "-nan", "NULL", "null", "None", "NaT"};
constexpr std::string_view truths[] = {"true", "True", "TRUE"}, falsehoods[] = {"false", "False", "FALSE"};

bool is_among(std::string_view text, std::span<const std::string_view> texts) {
  return std::ranges::find(texts, text) != texts.end();
}

template <class Integer>
std::optional<Integer> whole_integer(std::string_view text) {
  Integer value{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Whether a number out of the range of every type is too small rather than too great.
bool is_tiny(std::string_view text) {
  const std::size_t exponent = text.find_first_of("eE");
  if (exponent != text.npos) return text.substr(exponent + 1).starts_with('-');
  return text.substr(0, text.find('.')).find_first_of("123456789") == text.npos;
}

}  // namespace

std::string_view without_spaces(std::string_view field) {
  const std::size_t first = field.find_first_not_of(" \t");
  if (first == field.npos) return {};
  return field.substr(first, field.find_last_not_of(" \t") + 1 - first);
}

template <class T>
std::optional<T> csv_real(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  const std::string_view magnitude = text.substr(text.starts_with('-') ? 1 : 0);
  if (magnitude.empty() || magnitude[0] == 'n' || magnitude[0] == 'N') return std::nullopt;
  T value{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size()) return std::nullopt;
  if (failure == std::errc()) return value;
  if (failure != std::errc::result_out_of_range) return std::nullopt;
  const T limit = is_tiny(magnitude) ? T{0} : std::numeric_limits<T>::infinity();
  return text.starts_with('-') ? -limit : limit;
}

template std::optional<float> csv_real<float>(std::string_view);
template std::optional<double> csv_real<double>(std::string_view);

std::string_view plain_number(std::string_view field, const CsvNumbers& numbers, std::string& room) {
  if (numbers.decimal == '.' && numbers.thousands == 0 && numbers.symbols.empty() && !numbers.parentheses) return field;
  room.clear();
  bool has_sign = false;
  const auto take_sign = [&] {
    if (has_sign || !(field.starts_with('-') || field.starts_with('+'))) return;
    has_sign = true;
    room += field[0];
    field.remove_prefix(1);
  };
  take_sign();
  const auto take_symbols = [&] {
    for (const std::string& symbol : numbers.symbols) {
      if (field.starts_with(symbol)) field = without_spaces(field.substr(symbol.size()));
      if (field.ends_with(symbol)) field = without_spaces(field.substr(0, field.size() - symbol.size()));
    }
  };
  take_symbols();
  if (numbers.parentheses && !has_sign && field.size() > 1 && field.front() == '(' && field.back() == ')') {
    has_sign = true;
    room += '-';
    field = without_spaces(field.substr(1, field.size() - 2));
    take_symbols();
  }
  take_sign();
  // The last group of digits has three of them, others have two or three as in 12,34,567.
  std::size_t digits = 0;
  bool has_groups = false, is_whole = true;
  const auto group_ends = [&] { return !has_groups || digits == 3; };
  for (const char c : field) {
    if (c == numbers.thousands && is_whole) {
      if (digits == 0 || digits > 3 || (has_groups && digits < 2)) return {};
      has_groups = true;
      digits = 0;
    } else if (c == numbers.decimal && is_whole) {
      if (!group_ends()) return {};
      is_whole = false;
      room += '.';
    } else if (c == '.' || c == numbers.thousands) {
      return {};
    } else {
      const bool is_digit = c >= '0' && c <= '9';
      if (is_whole && is_digit) ++digits;
      if (is_whole && !is_digit) {
        if (!group_ends()) return {};
        is_whole = false;
      }
      room += c;
    }
  }
  return is_whole && !group_ends() ? std::string_view() : room;
}

CsvValue csv_value(std::string_view field, const CsvNumbers& numbers) {
  field = without_spaces(field);
  if (is_among(field, usual_missing) || std::ranges::find(numbers.missing, field) != numbers.missing.end())
    return {CsvKind::missing};
  if (is_among(field, truths)) return {CsvKind::boolean, 1};
  if (is_among(field, falsehoods)) return {CsvKind::boolean, 0};
  std::string room;
  field = plain_number(field, numbers, room);
  std::string_view digits = field;
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
  if (const auto value = whole_integer<std::int64_t>(digits))
    return {CsvKind::integer, static_cast<std::uint64_t>(*value)};
  if (const auto value = whole_integer<std::uint64_t>(digits)) return {CsvKind::large_integer, *value};
  if (const auto value = csv_real<double>(field)) return {CsvKind::real, std::bit_cast<std::uint64_t>(*value)};
  return {CsvKind::text};
}

}  // namespace gpulua
