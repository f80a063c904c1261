#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include "src/base/error.h"
#include "src/files/csv.h"
#include "src/files/csv_value.h"
#include "src/files/host_file.h"

namespace gpulua {

namespace {

constexpr std::size_t block = std::size_t{1} << 20;
constexpr std::size_t longest_number = 32;

template <class T>
void append_number(std::string& out, T value) {
  std::array<char, longest_number> text;
  const auto [end, failure] = std::to_chars(text.data(), text.data() + text.size(), value);
  out.append(text.data(), end);
}

/// Writes a value that has at most 4 decimals, as prices have; false: it has more. A number of so few digits is the
/// only one among those as short that gives the value back.
template <class T>
bool append_short(std::string& out, T value) {
  constexpr double scale = 1e4;
  constexpr double most = std::is_same_v<T, float> ? 1e6 : 1e15;
  const double scaled = std::abs(static_cast<double>(value)) * scale + 0.5;
  if (!(scaled < most)) return false;
  const auto digits = static_cast<std::uint64_t>(scaled);
  if (static_cast<T>(static_cast<double>(digits) / scale) != std::abs(value)) return false;
  if (std::signbit(value)) out += '-';
  append_number(out, digits / 10000);
  out += '.';
  std::array<char, 4> decimals;
  std::size_t count = 1;
  for (std::size_t i = decimals.size(), rest = digits % 10000; i-- > 0; rest /= 10) {
    decimals[i] = static_cast<char>('0' + rest % 10);
    if (rest % 10 != 0) count = std::max(count, i + 1);
  }
  out.append(decimals.data(), count);
  return true;
}

/// The shortest decimal number that gives the value back; with a point, so that it is read as no integer.
template <class T>
void append_real(std::string& out, T value, const std::string& missing) {
  if (std::isnan(value)) {
    out += missing;
    return;
  }
  if (append_short(out, value)) return;
  const std::size_t first = out.size();
  append_number(out, value);
  if (out.find_first_of(".einf", first) == out.npos) out += ".0";
}

template <class T>
T element_at(std::span<const char> elements, std::int64_t row) {
  T value;
  std::memcpy(&value, elements.data() + static_cast<std::size_t>(row) * sizeof(T), sizeof(T));
  return value;
}

const std::string& text_at(const CsvOutput& column, std::int32_t position) {
  if (position < 1 || static_cast<std::size_t>(position) > column.texts->size())
    throw Error("[save] expected positions from 1 to {} in the texts of column {}, got {}", column.texts->size(),
                column.name, position);
  return (*column.texts)[static_cast<std::size_t>(position) - 1];
}

class CsvWriter {
 public:
  CsvWriter(const std::string& path, const CsvWriting& options) : options_(options), file_("save", path) {
    numbers_.missing = {options.missing};
  }

  void write(std::span<const CsvOutput> columns, std::int64_t rows) {
    if (options_.header) {
      for (std::size_t i = 0; i < columns.size(); ++i) {
        if (i > 0) out_ += options_.separator;
        out_ += field_of(columns[i].name);
      }
      out_ += '\n';
    }
    std::vector<std::vector<std::string>> fields(columns.size());
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::size_t first = out_.size();
      for (std::size_t i = 0; i < columns.size(); ++i) {
        if (i > 0) out_ += options_.separator;
        append_element(columns[i], row, fields[i]);
      }
      // An empty line would be no row.
      if (out_.size() == first) out_ += "\"\"";
      out_ += '\n';
      if (out_.size() >= block) flush();
    }
    flush();
    file_.commit();
  }

 private:
  void flush() {
    file_.write(out_);
    out_.clear();
  }

  /// The field of a text: with quotes where it would be read as something else without.
  std::string field_of(const std::string& text) const {
    const char special[] = {options_.separator, '"', '\n', '\r', '\0'};
    const bool reads_as_text = csv_value(text, numbers_).kind == CsvKind::text;
    const bool has_outer_spaces = without_spaces(text).size() < text.size();
    if (reads_as_text && !has_outer_spaces && text.find_first_of(special) == text.npos) return text;
    std::string field = "\"";
    for (const char c : text) {
      if (c == '"') field += '"';
      field += c;
    }
    return field + '"';
  }

  /// `fields` has the fields of the column's texts that were needed before.
  void append_text(const CsvOutput& column, std::int32_t position, std::vector<std::string>& fields) {
    const std::string& text = text_at(column, position);
    fields.resize(column.texts->size());
    std::string& field = fields[static_cast<std::size_t>(position) - 1];
    if (field.empty()) field = field_of(text);
    out_ += field;
  }

  void append_element(const CsvOutput& column, std::int64_t row, std::vector<std::string>& fields) {
    const std::span<const char> elements = column.elements;
    if (column.texts) return append_text(column, element_at<std::int32_t>(elements, row), fields);
    if (column.dates) return append_date_or_duration(*column.dates, element_at<std::int64_t>(elements, row));
    switch (column.dtype) {
      case DType::boolean:
        out_ += element_at<bool>(elements, row) ? "true" : "false";
        return;
      case DType::int8:
        return append_number<int>(out_, element_at<std::int8_t>(elements, row));
      case DType::int16:
        return append_number(out_, element_at<std::int16_t>(elements, row));
      case DType::int32:
        return append_number(out_, element_at<std::int32_t>(elements, row));
      case DType::int64:
        return append_number(out_, element_at<std::int64_t>(elements, row));
      case DType::uint8:
        return append_number<unsigned>(out_, element_at<std::uint8_t>(elements, row));
      case DType::uint16:
        return append_number(out_, element_at<std::uint16_t>(elements, row));
      case DType::uint32:
        return append_number(out_, element_at<std::uint32_t>(elements, row));
      case DType::uint64:
        return append_number(out_, element_at<std::uint64_t>(elements, row));
      case DType::float16:
        return append_float(half_to_float(element_at<std::uint16_t>(elements, row)));
      case DType::bfloat16:
        return append_float(bfloat16_to_float(element_at<std::uint16_t>(elements, row)));
      case DType::float32:
        return append_float(element_at<float>(elements, row));
      case DType::float64:
        return append_real(out_, element_at<double>(elements, row), options_.missing);
      case DType::complex64:
      case DType::complex128:
        break;
    }
    throw Error("[save] expected real numbers in column {}, got {}; x:real() and x:imag() make two columns of it",
                column.name, name(column.dtype));
  }
  void append_date_or_duration(DateKind kind, std::int64_t count) {
    if (count == missing_date)
      out_ += options_.missing;
    else if (kind.is_duration)
      append_duration(out_, count, kind.unit);
    else
      append_date(out_, count, kind.unit);
  }
  void append_float(float value) { append_real(out_, value, options_.missing); }

  const CsvWriting& options_;
  CsvNumbers numbers_;  // as the file is read
  NewFile file_;
  std::string out_;
};

}  // namespace

void save_csv(const std::string& path, std::span<const CsvOutput> columns, std::int64_t rows,
              const CsvWriting& options) {
  CsvWriter(path, options).write(columns, rows);
}

}  // namespace gpulua
