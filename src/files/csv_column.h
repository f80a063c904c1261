#pragma once

// A column of a CSV file while it is read.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/files/csv.h"
#include "src/files/csv_value.h"

namespace gpulua {

/// Numbers texts in the order of their first appearance.
class TextNumbers {
 public:
  std::uint32_t number_of(std::string_view text);
  /// Sorts the texts; returns each number's place among them.
  std::vector<std::uint32_t> sort();
  /// Hands out the texts.
  std::vector<std::string> take();

 private:
  void grow();

  struct Slot {
    std::size_t hash = 0;
    std::uint32_t number_and_1 = 0;  // 0: free
  };
  std::vector<Slot> slots_;
  std::deque<std::string> texts_;
};

/// Collects the values of a column. Without a type the values decide it: the kind of the column goes up as values need,
/// missing -> boolean, missing -> date, or missing -> integer -> large_integer -> real, and from each to text. Values
/// are kept in 64 bits each. Text needs the fields themselves, so the file is then read once more (`begins_again`).
class CsvColumn {
 public:
  /// `type`: the type asked for. `or_text`: fields that are not numbers turn the column into text all the same.
  CsvColumn(std::string name, std::optional<CsvType> type, bool or_text, const CsvNumbers& numbers);

  const std::string& name() const { return name_; }
  bool is_text() const { return kind_ == CsvKind::text; }
  bool is_date() const { return kind_ == CsvKind::date; }
  /// Whether the values so far are lost, as the column has turned out to be text.
  bool begins_again() const { return begins_again_; }
  void begin_again() { begins_again_ = false; }
  /// The field that made the column text.
  void remember(CsvTextField field) { text_field_ = std::move(field); }
  void reserve(std::size_t rows) { values_.reserve(rows); }

  /// Adds the short number at [at, end), and returns where it ends. Null for any other text, for a number that no
  /// character for which `stops` is true follows, and where the column does not take it so; nothing is added then.
  template <class Stops>
  const char* add_short(const char* at, const char* end, const Stops& stops) {
    if (has_missing_numbers_) return nullptr;
    ShortNumber number;
    const char* const after = read_short(at, end, number, numbers_.decimal);
    if (after == nullptr || !stops(after)) return nullptr;
    if (!type_ && !number.has_point && is_code({at, after})) return nullptr;
    if (kind_ == CsvKind::real) return push_short_real(number) ? after : nullptr;
    if (kind_ != CsvKind::integer || number.has_point) return nullptr;
    const auto magnitude = static_cast<std::int64_t>(number.digits);
    return push_integer(number.negative ? -magnitude : magnitude) ? after : nullptr;
  }

  /// Adds a field, without quotes around it. `is_quoted`: it had some that make text of it, unless a dtype was asked
  /// for this column. Returns what was expected of the field: empty when it fits.
  std::string add(std::string_view field, bool is_quoted);

  /// What is wrong with the column as a whole; empty when nothing is.
  std::string fault() const;
  /// Hands out the values in the column's type.
  CsvColumnData finish();

 private:
  void push_real(double value) { values_.push_back(std::bit_cast<std::uint64_t>(value)); }
  bool push_short_real(const ShortNumber& number) {
    if (!is_single_) {
      const auto value = value_of<double>(number);
      if (value) push_real(*value);
      return value.has_value();
    }
    const auto value = value_of<float>(number);
    if (value) push_real(*value);
    return value.has_value();
  }
  /// False for a value that the type does not have.
  bool push_integer(std::int64_t value) {
    if (value < least_ || value > greatest_) return false;
    if (value < 0) has_negative_ = true;
    if (value > most_exact || value < -most_exact) has_wide_ = true;
    values_.push_back(static_cast<std::uint64_t>(value));
    return true;
  }
  void push_missing();
  std::string add_typed(std::string_view field);
  std::string add_date(std::string_view field);
  std::string push_date(const Moment& moment);
  std::string add_value(std::string_view field);
  void become_real();
  std::string make_text();
  void become_text();
  void narrow(DType dtype);

  static constexpr std::int64_t most_exact = std::int64_t{1} << 53;

  std::string name_;
  std::optional<DType> type_;               // asked for
  std::optional<std::string> date_format_;  // asked for
  DateUnit date_unit_ = DateUnit::days;
  bool or_text_;
  const CsvNumbers& numbers_;
  CsvKind kind_ = CsvKind::missing;
  bool has_missing_numbers_ = false;  // a text that stands for a missing number is one itself, such as -999
  bool begins_again_ = false;
  bool has_negative_ = false, has_wide_ = false;
  bool is_single_ = false;  // of a type whose values are those of a float
  std::int64_t least_ = std::numeric_limits<std::int64_t>::min(), greatest_ = std::numeric_limits<std::int64_t>::max();
  std::vector<std::uint64_t> values_;
  std::vector<std::size_t> missing_rows_;  // of columns that are not real
  TextNumbers texts_;
  std::optional<CsvTextField> text_field_;
};

}  // namespace gpulua
