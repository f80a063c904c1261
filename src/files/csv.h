#pragma once

// Tables in text: CSV after RFC 4180, and the same with another separator.

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "src/base/dtype.h"
#include "src/files/date_text.h"

namespace gpulua {

/// What a column of a file is to hold: elements of a dtype, text, or dates in a format (empty: ISO 8601).
struct CsvText {};
struct CsvDates {
  std::string format;
};
using CsvType = std::variant<DType, CsvText, CsvDates>;

/// How a file writes numbers.
struct CsvNumbers {
  char decimal = '.';
  /// Stands between groups of digits; 0: nothing does.
  char thousands = 0;
  /// Texts that may stand before or after a number, such as $ and %.
  std::vector<std::string> symbols;
  /// Whether numbers in parentheses are negative, as accountants write them.
  bool parentheses = false;
  /// Texts that stand for a missing number, besides the usual ones.
  std::vector<std::string> missing;
};

struct CsvReading {
  char separator = ',';
  /// Whether the separator is the default: then a file of single fields that has another separator is an error.
  bool is_usual_separator = false;
  /// Whether the first line has the names. Without a value: unless all of its fields are numbers or missing.
  std::optional<bool> header;
  /// Lines before the first one that counts.
  std::int64_t skip = 0;
  /// Lines that begin with this text are left out; empty: all lines count.
  std::string comments;
  /// The most rows to read.
  std::int64_t max_rows = std::numeric_limits<std::int64_t>::max();
  /// The names of all columns in place of the file's. Empty: those of the file.
  std::vector<std::string> names;
  /// The columns to read, in this order, by name or by position counted from 1 (from the end if negative). Empty: all.
  std::vector<std::variant<std::string, std::int64_t>> columns;
  /// The type of the columns of numbers; without a value each column's fields decide.
  std::optional<DType> dtype;
  /// The types of columns by name.
  std::map<std::string, CsvType, std::less<>> types;
  CsvNumbers numbers;
};

/// The field that made a column text, where the columns' fields decide.
struct CsvTextField {
  std::string text;
  std::int64_t line = 0;
  bool is_quoted = false;
};

/// A column: elements of a dtype in host memory. A column of text has int32
/// positions in `texts`, which are sorted, counted from 1; dates and durations are int64.
struct CsvColumnData {
  std::string name;
  DType dtype = DType::float64;
  std::vector<std::uint64_t> memory;  // holds the elements contiguously
  std::optional<std::vector<std::string>> texts;
  std::optional<DateKind> dates;
  std::optional<CsvTextField> text_field;
};

struct CsvTable {
  std::int64_t rows = 0;
  std::vector<CsvColumnData> columns;
};

/// Reads the bytes of a file, called `file` in errors. A column whose fields are all integers is int64 (uint64 where
/// one needs it), of numbers float64, of true and false bool, of dates in ISO 8601 dates in the coarsest unit that has
/// them; one with any other field, one in quotes, or an integer with zeros in front, is text. A missing number is NaN and makes the column float64. Throws Error, with line and column, for rows of different
/// lengths, quotes without end, numbers that do not fit a type that was asked for, and unknown or repeated names.
CsvTable read_csv(std::span<const char> bytes, const CsvReading& options, const std::string& file);

struct CsvWriting {
  char separator = ',';
  bool header = true;
  /// Stands for NaN.
  std::string missing;
};

/// A column to write: row-major elements in host memory, and the texts that they are positions in.
struct CsvOutput {
  std::string name;
  DType dtype;
  std::span<const char> elements;
  std::optional<std::vector<std::string>> texts;
  std::optional<DateKind> dates;
};

/// Writes a file of the columns, which have `rows` elements each. Texts that look like numbers are in quotes. Numbers
/// have as many digits as give the same number back. Throws Error for complex columns, and of kind `file` for a failed
/// write.
void save_csv(const std::string& path, std::span<const CsvOutput> columns, std::int64_t rows,
              const CsvWriting& options);

}  // namespace gpulua
