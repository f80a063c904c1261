#pragma once

// Dates and durations as text. Both are integers of 64 bits: how many units since 1970, or how many at all.

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpulua {

enum class DateUnit : std::uint8_t { days, seconds, milliseconds, microseconds, nanoseconds };

/// NumPy's NaT.
inline constexpr std::int64_t missing_date = std::numeric_limits<std::int64_t>::min();

/// "days", "s", "ms", "us" or "ns".
std::string_view name(DateUnit unit);
std::optional<DateUnit> date_unit(std::string_view name);

/// What a column of dates or durations counts.
struct DateKind {
  DateUnit unit = DateUnit::days;
  bool is_duration = false;
};

/// A moment, and the coarsest unit that has it.
struct Moment {
  std::int64_t day = 0;          // since 1970
  std::int64_t nanoseconds = 0;  // since the day's begin
  DateUnit unit = DateUnit::days;
};

/// The moment in units, rounded down; nothing beyond the range of 64 bits.
std::optional<std::int64_t> count_of(const Moment& moment, DateUnit unit);

/// A number of units in a finer one. Nothing beyond the range; missing_date stays what it is.
std::optional<std::int64_t> in_finer(std::int64_t count, DateUnit unit, DateUnit finer);

/// Reads ISO 8601: 2024-03-01, with a time after a T or a space, 12:30 or 12:30:00.25, and Z or an offset from UTC
/// after that, which is subtracted; by a `format` that check_date_format() has accepted, its %Y %y %m %d %j %b %B %a %A
/// %H %I %p %M %S %f %F %T and %%. Nothing for other text.
std::optional<Moment> parse_date(std::string_view text, std::string_view format = {});
/// Whether a text is written as a date, though there may be no such day or time: 2024-02-30.
bool has_date_form(std::string_view text, std::string_view format = {});
// What texts of dates are that are not in ISO 8601, for messages.

/// The usual formats that read the text, the likeliest first.
std::vector<std::string> date_formats(std::string_view text);

/// "; ... reads it" for a text that is no date of ISO 8601, and "" where nothing tells. `reads`: how to give a format.
std::string date_advice(std::string_view text, const std::function<std::string(const std::string& format)>& reads);

/// Throws Error for a format with other letters. `reads`: it is read by, and so must have a year and a day.
void check_date_format(const char* op, std::string_view format, bool reads);

/// Appends a date in ISO 8601, with the decimals of its unit; NaT where it is missing.
void append_date(std::string& text, std::int64_t count, DateUnit unit);
void append_date(std::string& text, std::int64_t count, DateUnit unit, std::string_view format);
/// Appends a duration: 3d, -1d 02:30:00 or 00:00:00.250.
void append_duration(std::string& text, std::int64_t count, DateUnit unit);

}  // namespace gpulua
