#include "src/files/number_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <complex>
#include <cstring>

#include "src/base/error.h"
#include "src/files/csv_hint.h"
#include "src/files/csv_value.h"

namespace gpulua {

namespace {

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// The text without a sign in front, which `negative` says.
std::string_view magnitude_of(std::string_view text, bool& negative) {
  negative = text.starts_with('-');
  return negative || text.starts_with('+') ? text.substr(1) : text;
}

/// Reads the whole text; false for other text.
template <class T, class Format>
bool read_all(std::string_view text, T& value, Format format) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value, format);
  return failure == std::errc() && end == text.data() + text.size();
}

/// A real number: decimal or, after 0x, hexadecimal; an infinity; NaN.
template <class T>
std::optional<T> real_of(std::string_view text) {
  ShortNumber number;
  const char* const end = text.data() + text.size();
  if (read_short(text.data(), end, number) == end)
    if (const auto value = value_of<T>(number)) return value;
  if (const auto value = csv_real<T>(text)) return value;
  bool negative = false;
  const std::string_view magnitude = magnitude_of(text, negative);
  T value{};
  if (magnitude.starts_with("0x") || magnitude.starts_with("0X")) {
    const std::string_view digits = magnitude.substr(2);
    if (digits.empty() || digits.find_first_of("+-nN") == 0) return std::nullopt;
    if (!read_all(digits, value, std::chars_format::hex)) return std::nullopt;
    return negative ? -value : value;
  }
  const bool is_nan = (magnitude.starts_with('n') || magnitude.starts_with('N')) &&
                      read_all(magnitude, value, std::chars_format::general);
  return is_nan ? std::optional(std::numeric_limits<T>::quiet_NaN()) : std::nullopt;
}

bool is_integer_text(std::string_view text) {
  bool negative = false;
  const std::string_view digits = magnitude_of(text, negative);
  return !digits.empty() && std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
}

/// The integer that the text says, in 64 bits; a real number that is one too.
std::optional<Scalar> integer_of(std::string_view text) {
  if (is_integer_text(text)) {
    const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
    std::int64_t value = 0;
    if (read_all(digits, value, 10)) return value;
    std::uint64_t large = 0;
    if (read_all(digits, large, 10)) return large;
    return std::nullopt;
  }
  if (const auto value = real_of<double>(text)) return *value;
  return std::nullopt;
}

/// "1+2j", "(1+2j)", "2j" or a real number; i is j.
template <class T>
std::optional<std::complex<T>> complex_of(std::string_view text) {
  if (text.starts_with('(') && text.ends_with(')')) text = text.substr(1, text.size() - 2);
  if (!text.ends_with('i') && !text.ends_with('j')) {
    const auto real = real_of<T>(text);
    return real ? std::optional(std::complex<T>(*real)) : std::nullopt;
  }
  text.remove_suffix(1);
  std::size_t sign = text.find_last_of("+-");
  while (sign != text.npos && sign > 0 && (text[sign - 1] == 'e' || text[sign - 1] == 'E'))
    sign = text.find_last_of("+-", sign - 1);
  const bool has_real = sign != text.npos && sign > 0;
  const auto real = has_real ? real_of<T>(text.substr(0, sign)) : std::optional<T>(0);
  const auto imaginary = real_of<T>(has_real ? text.substr(sign) : text);
  return real && imaginary ? std::optional(std::complex<T>(*real, *imaginary)) : std::nullopt;
}

template <class T>
bool put(const std::optional<T>& value, void* bytes) {
  if (value) std::memcpy(bytes, &*value, sizeof *value);
  return value.has_value();
}

bool fits(DType dtype, const std::optional<Scalar>& value, void* bytes) {
  if (!value) return false;
  try {
    encode(dtype, *value, bytes);
  } catch (const Error&) {
    return false;
  }
  return true;
}

bool rounds_integer(std::string_view text) {
  if (!is_integer_text(text)) return false;
  const auto value = csv_real<double>(text);
  return !value || static_cast<double>(static_cast<float>(*value)) != *value || std::abs(*value) >= 0x1p53;
}

struct Row {
  std::int64_t line;
  std::string_view text;
};

class Reader {
 public:
  Reader(const std::string& op, std::string_view text, const NumberTextReading& reading, const std::string& path)
      : op_(op), text_(text), reading_(reading), path_(path), size_(size_of(reading.dtype)) {}

  NumberRows read() {
    std::vector<std::string_view> fields;
    const std::vector<Row> rows = reading_.one_row ? std::vector<Row>{{1, text_}} : find_rows();
    for (const Row& row : rows) {
      split(row.text, fields);
      if (reading_.one_row) return read_one(fields);
      if (result_.rows == 0) {
        choose_columns(static_cast<std::int64_t>(fields.size()));
        result_.elements.reserve(rows.size() * columns_.size() * size_);
      }
      const auto width = static_cast<std::int64_t>(fields.size());
      if (width != width_)
        fail("expected " + std::to_string(width_) + " columns, as in the line before, got " + std::to_string(width) +
             " in line " + std::to_string(row.line));
      for (const std::int64_t column : columns_) add(fields[static_cast<std::size_t>(column - 1)], column, row.line);
      ++result_.rows;
    }
    result_.columns = static_cast<std::int64_t>(columns_.size());
    return std::move(result_);
  }

 private:
  [[noreturn]] void fail(const std::string& what, const std::string& advice = {}) const {
    throw Error("[{}] {} of {}{}", op_, what, path_, advice);
  }

  /// The lines with numbers, without comments.
  std::vector<Row> find_rows() const {
    refuse_lone_returns(op_, text_, path_);
    std::vector<Row> rows;
    std::int64_t line = 0;
    for (std::size_t at = 0; at < text_.size() && static_cast<std::int64_t>(rows.size()) < reading_.most_rows;) {
      const std::size_t end = std::min(text_.find('\n', at), text_.size());
      std::string_view text = text_.substr(at, end - at);
      at = end + 1;
      if (++line <= reading_.skipped_lines) continue;
      for (const std::string& mark : reading_.comments) text = text.substr(0, text.find(mark));
      if (text.ends_with('\r')) text.remove_suffix(1);
      if (!std::ranges::all_of(text, is_space)) rows.push_back({line, text});
    }
    rows.resize(rows.size() -
                std::min<std::size_t>(rows.size(), static_cast<std::size_t>(reading_.skipped_rows_at_end)));
    return rows;
  }

  void split(std::string_view text, std::vector<std::string_view>& fields) const {
    fields.clear();
    const std::string& delimiter = reading_.delimiter;
    if (delimiter.empty()) {
      for (auto at = std::ranges::find_if_not(text, is_space); at != text.end();) {
        const auto end = std::find_if(at, text.end(), is_space);
        fields.emplace_back(at, end);
        at = std::find_if_not(end, text.end(), is_space);
      }
      return;
    }
    for (std::size_t at = 0;;) {
      const std::size_t end = text.find(delimiter, at);
      fields.push_back(trimmed(text.substr(at, end == text.npos ? end : end - at)));
      if (end == text.npos) return;
      at = end + delimiter.size();
    }
  }

  void choose_columns(std::int64_t width) {
    width_ = width;
    if (!reading_.columns)
      for (std::int64_t column = 1; column <= width; ++column) columns_.push_back(column);
    else
      for (const std::int64_t column : *reading_.columns) {
        columns_.push_back(column < 0 ? width + 1 + column : column);
        if (columns_.back() < 1 || columns_.back() > width)
          throw Error("[{}] expected columns from 1 to {}, or from -{} to -1, got {}{}", op_, width, width, column,
                      width == 1 ? "; {delimiter = \",\"} separates fields by commas" : "");
      }
  }

  NumberRows read_one(std::vector<std::string_view>& fields) {
    if (!fields.empty() && fields.back().empty()) fields.pop_back();
    const auto count = static_cast<std::int64_t>(fields.size());
    if (reading_.most_rows != std::numeric_limits<std::int64_t>::max() && reading_.most_rows > count)
      throw Error("[{}] expected at most the {} numbers of {}, got {}", op_, count, path_, reading_.most_rows);
    result_.rows = std::min(count, reading_.most_rows);
    result_.columns = 1;
    for (std::int64_t i = 0; i < result_.rows; ++i) add(fields[static_cast<std::size_t>(i)], 1, i + 1);
    return std::move(result_);
  }

  /// `line`: of one row the number's position.
  void add(std::string_view field, std::int64_t column, std::int64_t line) {
    result_.elements.resize(result_.elements.size() + size_);
    char* const bytes = result_.elements.data() + result_.elements.size() - size_;
    std::optional<Scalar> given;
    if (std::ranges::find(reading_.missing, field) != reading_.missing.end())
      given = reading_.filling;
    else if (reading_.convert)
      given = reading_.convert(field, column);
    if (given ? fits(reading_.dtype, given, bytes) : read_number(field, reading_.dtype, bytes)) {
      if (given || !reading_.exact || !rounds_integer(field)) return;
      refuse("a dtype for integers that " + std::string(name(reading_.dtype)) + " would round", field, column, line);
    }
    const std::string from = given ? " in place of the field, not " + to_string(*given) : "";
    refuse("a number of " + std::string(name(reading_.dtype)) + from, field, column, line);
  }

  [[noreturn]] void refuse(const std::string& expected, std::string_view field, std::int64_t column,
                           std::int64_t line) const {
    const std::string place = reading_.one_row ? "number " + std::to_string(line)
                                               : "line " + std::to_string(line) + ", column " + std::to_string(column);
    std::string advice;
    if (field.find(',') != field.npos)
      advice = "; delimiter = \",\" splits it, and gpu.load(path) reads a .csv with names, texts and dates";
    else if (line == 1 && !reading_.one_row)
      advice = std::string(op_ == "loadtxt" ? "; skiprows = 1" : "; skip_header = 1") +
               " leaves a heading out, gpu.load(path) reads a table with names, texts and dates";
    fail("expected " + expected + ", got \"" + std::string(field) + "\" in " + place, advice);
  }

  const std::string& op_;
  std::string_view text_;
  const NumberTextReading& reading_;
  const std::string& path_;
  const std::size_t size_;
  std::int64_t width_ = 0;
  std::vector<std::int64_t> columns_;
  NumberRows result_;
};

}  // namespace

bool read_number(std::string_view text, DType dtype, void* bytes) {
  switch (dtype) {
    case DType::float32:
      return put(real_of<float>(text), bytes);
    case DType::float64:
      return put(real_of<double>(text), bytes);
    case DType::complex64:
      return put(complex_of<float>(text), bytes);
    case DType::complex128:
      return put(complex_of<double>(text), bytes);
    default:
      break;
  }
  if (is_integer(dtype)) return fits(dtype, integer_of(text), bytes);
  const auto value = real_of<double>(text);
  return fits(dtype, value ? std::optional<Scalar>(*value) : std::nullopt, bytes);
}

NumberRows read_number_rows(const std::string& op, std::string_view text, const NumberTextReading& reading,
                            const std::string& path) {
  return Reader(op, text, reading, path).read();
}

}  // namespace gpulua
