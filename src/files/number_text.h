#pragma once

// Rows of numbers in text.

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/dtype.h"
#include "src/base/scalar.h"

namespace gpulua {

/// Writes the number that the whole text says as `dtype` to `bytes`, rounded once to float32, float64 or a complex
/// dtype; infinite or zero beyond the dtype's range. False for other text, for numbers that are not integers and for
/// those beyond an integer dtype's range.
bool read_number(std::string_view text, DType dtype, void* bytes);

struct NumberTextReading {
  DType dtype = DType::float32;
  bool exact = false;                 // an integer that the dtype would round is an error
  std::string delimiter;              // empty: any white space
  std::vector<std::string> comments;  // each begins a comment
  std::int64_t skipped_lines = 0, most_rows = std::numeric_limits<std::int64_t>::max(), skipped_rows_at_end = 0;
  std::optional<std::vector<std::int64_t>> columns;  // from 1, or from the end if negative; all without a value
  bool one_row = false;                              // the whole text is one row, of most_rows fields at most
  std::vector<std::string> missing;  // texts of fields whose number is `filling`
  Scalar filling;
  /// The number of a field, by its text and column, where the text does not say it; may be empty.
  std::function<std::optional<Scalar>(std::string_view, std::int64_t)> convert;
};

struct NumberRows {
  std::int64_t rows = 0, columns = 0;
  std::vector<char> elements;
};

/// Reads the text of the file `path`. Throws Error that begins with `op`, with line and column, for rows of different
/// lengths and fields that are no number.
NumberRows read_number_rows(const std::string& op, std::string_view text, const NumberTextReading& reading,
                            const std::string& path);

}  // namespace gpulua
