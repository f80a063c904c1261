#include <array>
#include <chrono>
#include <cstddef>
#include <string>

#include "src/files/date_parts.h"
#include "src/files/date_text.h"

namespace gpulua {

using namespace dates;

namespace {

void append_digits(std::string& text, std::int64_t value, int width) {
  std::array<char, 20> digits;
  std::size_t at = digits.size();
  for (; value > 0 || width > 0; value /= 10, --width) digits[--at] = static_cast<char>('0' + value % 10);
  text.append(digits.data() + at, digits.size() - at);
}

/// 12:30:00, with the decimals of the unit.
void append_time(std::string& text, std::int64_t nanoseconds, int decimals) {
  const std::int64_t seconds = nanoseconds / second;
  append_digits(text, seconds / 3600, 2);
  text += ':';
  append_digits(text, seconds / 60 % 60, 2);
  text += ':';
  append_digits(text, seconds % 60, 2);
  if (decimals == 0) return;
  std::int64_t fraction = nanoseconds % second;
  for (int i = decimals; i < 9; ++i) fraction /= 10;
  text += '.';
  append_digits(text, fraction, decimals);
}

Moment moment_at(std::int64_t count, DateUnit unit) {
  const std::int64_t length = length_of(unit), each_day = day_length / length;
  std::int64_t day = count / each_day;
  if (count % each_day < 0) --day;
  return {day, (count - day * each_day) * length, unit};
}

std::chrono::year_month_day date_of(std::int64_t day) {
  return std::chrono::sys_days(std::chrono::days(static_cast<int>(day)));
}

/// Days of this many years around 1970 have a date here; the calendar of std::chrono has 32767 years.
constexpr std::int64_t most_days = 30000LL * 365;

void append_year(std::string& text, int year) {
  if (year < 0) text += '-';
  append_digits(text, year < 0 ? -year : year, 4);
}

void append_day(std::string& text, std::int64_t day) {
  const auto date = date_of(day);
  append_year(text, static_cast<int>(date.year()));
  text += '-';
  append_digits(text, static_cast<unsigned>(date.month()), 2);
  text += '-';
  append_digits(text, static_cast<unsigned>(date.day()), 2);
}

void append_part(std::string& text, char letter, const Moment& moment) {
  const auto date = date_of(moment.day);
  const std::int64_t seconds = moment.nanoseconds / second, hour = seconds / 3600;
  const auto weekday = std::chrono::weekday(std::chrono::sys_days(date)).c_encoding();
  const std::string_view month = months[static_cast<unsigned>(date.month()) - 1];
  switch (letter) {
    case 'Y':
      return append_year(text, static_cast<int>(date.year()));
    case 'y':
      return append_digits(text, (static_cast<int>(date.year()) % 100 + 100) % 100, 2);
    case 'm':
      return append_digits(text, static_cast<unsigned>(date.month()), 2);
    case 'd':
      return append_digits(text, static_cast<unsigned>(date.day()), 2);
    case 'j':
      return append_digits(text, moment.day + 1 - std::chrono::sys_days(date.year() / 1 / 1).time_since_epoch().count(),
                           3);
    case 'b':
      text += month.substr(0, short_name);
      return;
    case 'B':
      text += month;
      return;
    case 'a':
      text += weekdays[weekday].substr(0, short_name);
      return;
    case 'A':
      text += weekdays[weekday];
      return;
    case 'H':
      return append_digits(text, hour, 2);
    case 'I':
      return append_digits(text, hour % 12 == 0 ? 12 : hour % 12, 2);
    case 'p':
      text += hour < 12 ? "AM" : "PM";
      return;
    case 'M':
      return append_digits(text, seconds / 60 % 60, 2);
    case 'S':
      return append_digits(text, seconds % 60, 2);
    case 'f':
      return append_digits(text, moment.nanoseconds % second / 1000, 6);
    case 'F':
      return append_day(text, moment.day);
    case 'T':
      return append_time(text, moment.nanoseconds, 0);
    default:
      text += letter;
  }
}

}  // namespace

void append_date(std::string& text, std::int64_t count, DateUnit unit) {
  append_date(text, count, unit, {});
}

void append_date(std::string& text, std::int64_t count, DateUnit unit, std::string_view format) {
  if (count == missing_date) {
    text += "NaT";
    return;
  }
  const Moment moment = moment_at(count, unit);
  if (moment.day > most_days || moment.day < -most_days) {
    text += "1970-01-01 + ";
    return append_duration(text, count, unit);
  }
  if (!format.empty()) {
    for_each_part(
        format, [&](char c) { text += c; }, [&](char letter) { append_part(text, letter, moment); });
    return;
  }
  append_day(text, moment.day);
  if (unit == DateUnit::days) return;
  text += ' ';
  append_time(text, moment.nanoseconds, unit_decimals[static_cast<std::size_t>(unit)]);
}

void append_duration(std::string& text, std::int64_t count, DateUnit unit) {
  if (count == missing_date) {
    text += "NaT";
    return;
  }
  if (count < 0) text += '-';
  const Moment moment = moment_at(count < 0 ? -count : count, unit);
  if (moment.day > 0 || unit == DateUnit::days) {
    append_digits(text, moment.day, 1);
    text += 'd';
    if (unit == DateUnit::days) return;
    text += ' ';
  }
  append_time(text, moment.nanoseconds, unit_decimals[static_cast<std::size_t>(unit)]);
}

}  // namespace gpulua
