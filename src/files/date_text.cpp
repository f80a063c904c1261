#include "src/files/date_text.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>

#include "src/base/error.h"
#include "src/files/date_parts.h"

namespace gpulua {

using namespace dates;

namespace {

/// The parts of a date while it is read.
struct Parts {
  int year = 1970, month = 1, day = 1, year_day = 0, hour = 0, minute = 0, second = 0, decimals = 0;
  std::int64_t nanoseconds = 0, offset = 0;  // the offset in seconds
  bool has_time = false, is_afternoon = false, has_half = false;
};

std::optional<Moment> moment_of(const Parts& parts) {
  int hour = parts.hour;
  if (parts.has_half) {
    if (hour < 1 || hour > 12) return std::nullopt;
    hour = hour % 12 + (parts.is_afternoon ? 12 : 0);
  }
  const std::chrono::year_month_day date{std::chrono::year(parts.year),
                                         std::chrono::month(static_cast<unsigned>(parts.month)),
                                         std::chrono::day(static_cast<unsigned>(parts.day))};
  if (!date.ok() || hour > 23 || parts.minute > 59 || parts.second > 59) return std::nullopt;
  Moment result;
  result.day = std::chrono::sys_days(date).time_since_epoch().count();
  if (parts.year_day > 0) {
    if (parts.year_day > (date.year().is_leap() ? 366 : 365)) return std::nullopt;
    result.day += parts.year_day - 1;
  }
  std::int64_t seconds = (hour * 60 + parts.minute) * 60 + parts.second - parts.offset;
  const std::int64_t days = seconds >= 0 ? seconds / 86400 : -((86399 - seconds) / 86400);
  result.day += days;
  seconds -= days * 86400;
  result.nanoseconds = seconds * second + parts.nanoseconds;
  if (parts.has_time)
    result.unit = parts.decimals == 0   ? DateUnit::seconds
                  : parts.decimals <= 3 ? DateUnit::milliseconds
                  : parts.decimals <= 6 ? DateUnit::microseconds
                                        : DateUnit::nanoseconds;
  return result;
}

/// Reads the parts of a text, each at the front of what is left.
class DateReader {
 public:
  explicit DateReader(std::string_view text) : text_(text) {}

  bool ends() const { return text_.empty(); }
  bool skip(char c) {
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  /// Reads from `least` to `most` digits.
  bool read(int& value, int least, int most) {
    int count = 0;
    for (value = 0; count < most && !text_.empty() && text_[0] >= '0' && text_[0] <= '9'; ++count) {
      value = value * 10 + (text_[0] - '0');
      text_.remove_prefix(1);
    }
    return count >= least;
  }
  /// Reads up to nine decimals of a second.
  bool read_decimals(Parts& parts) {
    int value = 0;
    const std::size_t before = text_.size();
    if (!read(value, 1, 9)) return false;
    parts.decimals = static_cast<int>(before - text_.size());
    parts.nanoseconds = value;
    for (int i = parts.decimals; i < 9; ++i) parts.nanoseconds *= 10;
    return parts.has_time = true;
  }
  /// Reads Z, or an offset as +02:00.
  bool read_offset(Parts& parts) {
    if (skip('Z')) return true;
    const bool is_negative = text_.starts_with('-');
    if (!is_negative && !text_.starts_with('+')) return false;
    text_.remove_prefix(1);
    int hours = 0, minutes = 0;
    if (!read(hours, 2, 2)) return false;
    skip(':');
    if (!ends() && !read(minutes, 2, 2)) return false;
    if (hours > 23 || minutes > 59) return false;
    parts.offset = (is_negative ? -60 : 60) * (hours * 60 + minutes);
    return true;
  }
  /// The number of the name, in whole or its first letters, counted from 1; 0 for none.
  template <std::size_t count>
  int read_name(const std::array<std::string_view, count>& names) {
    const auto starts = [&](std::string_view name) {
      if (text_.size() < name.size()) return false;
      for (std::size_t i = 0; i < name.size(); ++i)
        if ((text_[i] | 0x20) != (name[i] | 0x20)) return false;
      return true;
    };
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_whole = starts(names[i]);
      if (!is_whole && !starts(names[i].substr(0, short_name))) continue;
      text_.remove_prefix(is_whole ? names[i].size() : short_name);
      return static_cast<int>(i) + 1;
    }
    return 0;
  }

 private:
  std::string_view text_;
};

bool read_iso_date(DateReader& reader, Parts& parts) {
  return reader.read(parts.year, 4, 4) && reader.skip('-') && reader.read(parts.month, 2, 2) && reader.skip('-') &&
         reader.read(parts.day, 2, 2);
}

bool read_part(DateReader& reader, char letter, Parts& parts) {
  switch (letter) {
    case 'Y':
      return reader.read(parts.year, 4, 4);
    case 'y':
      if (!reader.read(parts.year, 2, 2)) return false;
      parts.year += parts.year < 69 ? 2000 : 1900;
      return true;
    case 'm':
      return reader.read(parts.month, 1, 2);
    case 'd':
      return reader.read(parts.day, 1, 2);
    case 'j':
      return reader.read(parts.year_day, 1, 3) && parts.year_day > 0;
    case 'b':
    case 'B':
      return (parts.month = reader.read_name(months)) > 0;
    case 'a':
    case 'A':
      return reader.read_name(weekdays) > 0;
    case 'H':
    case 'I':
      return parts.has_time = reader.read(parts.hour, 1, 2);
    case 'p': {
      const int half = reader.read_name(std::array<std::string_view, 2>{"AM", "PM"});
      parts.has_half = true;
      parts.is_afternoon = half == 2;
      return half > 0;
    }
    case 'M':
      return parts.has_time = reader.read(parts.minute, 1, 2);
    case 'S':
      return parts.has_time = reader.read(parts.second, 1, 2);
    case 'f':
      return reader.read_decimals(parts);
    case 'F':
      return read_iso_date(reader, parts);
    case 'T':
      return parts.has_time = reader.read(parts.hour, 2, 2) && reader.skip(':') && reader.read(parts.minute, 2, 2) &&
                              reader.skip(':') && reader.read(parts.second, 2, 2);
    default:
      return reader.skip(letter);
  }
}

}  // namespace

std::string_view name(DateUnit unit) {
  return unit_names[static_cast<std::size_t>(unit)];
}

std::optional<DateUnit> date_unit(std::string_view name) {
  for (std::size_t i = 0; i < unit_names.size(); ++i)
    if (unit_names[i] == name) return static_cast<DateUnit>(i);
  return std::nullopt;
}

std::optional<std::int64_t> count_of(const Moment& moment, DateUnit unit) {
  const std::int64_t length = length_of(unit);
  std::int64_t count = 0;
  if (__builtin_mul_overflow(moment.day, day_length / length, &count) ||
      __builtin_add_overflow(count, moment.nanoseconds / length, &count) || count == missing_date)
    return std::nullopt;
  return count;
}

std::optional<std::int64_t> in_finer(std::int64_t count, DateUnit unit, DateUnit finer) {
  std::int64_t result = count;
  if (count != missing_date && __builtin_mul_overflow(count, length_of(unit) / length_of(finer), &result))
    return std::nullopt;
  return result;
}

namespace {

std::optional<Parts> iso_parts(std::string_view text) {
  DateReader reader(text);
  Parts parts;
  if (!read_iso_date(reader, parts)) return std::nullopt;
  if (reader.ends()) return parts;
  if (!reader.skip('T') && !reader.skip(' ')) return std::nullopt;
  parts.has_time = true;
  if (!reader.read(parts.hour, 2, 2) || !reader.skip(':') || !reader.read(parts.minute, 2, 2)) return std::nullopt;
  if (reader.skip(':')) {
    if (!reader.read(parts.second, 2, 2)) return std::nullopt;
    if (reader.skip('.') && !reader.read_decimals(parts)) return std::nullopt;
  }
  if (!reader.ends() && (!reader.read_offset(parts) || !reader.ends())) return std::nullopt;
  return parts;
}

std::optional<Parts> parts_of(std::string_view text, std::string_view format) {
  if (format.empty()) return iso_parts(text);
  DateReader reader(text);
  Parts parts;
  bool fits = true;
  for_each_part(
      format, [&](char c) { fits = fits && reader.skip(c); },
      [&](char letter) { fits = fits && read_part(reader, letter, parts); });
  return fits && reader.ends() ? std::optional(parts) : std::nullopt;
}

}  // namespace

std::optional<Moment> parse_date(std::string_view text, std::string_view format) {
  const std::optional<Parts> parts = parts_of(text, format);
  return parts ? moment_of(*parts) : std::nullopt;
}

bool has_date_form(std::string_view text, std::string_view format) {
  return parts_of(text, format).has_value();
}

namespace {

/// A format of letters alone, dd/mm/yyyy, as one of ours: %d/%m/%Y. m after an h are minutes.
std::string with_percents(std::string_view format) {
  std::string result;
  bool is_time = false;
  for (std::size_t at = 0, end = 0; at < format.size(); at = end) {
    const auto lower = [&](std::size_t i) { return i < format.size() ? static_cast<char>(format[i] | 0x20) : '\0'; };
    for (end = at + 1; lower(end) == lower(at);) ++end;
    const std::size_t count = end - at;
    if (lower(at) == 'm' && count == 1 && lower(end) == 'o' && lower(end + 1) == 'n') {
      result += "%b";
      end += 2;
    } else if (lower(at) == 'y') {
      result += count > 2 ? "%Y" : "%y";
    } else if (lower(at) == 'm') {
      result += is_time ? "%M" : count > 3 ? "%B" : count == 3 ? "%b" : "%m";
    } else if (lower(at) == 'd') {
      result += count > 3 ? "%A" : count == 3 ? "%a" : "%d";
    } else if (lower(at) == 'h') {
      result += "%H";
      is_time = true;
    } else if (lower(at) == 's') {
      result += "%S";
    } else {
      result += format.substr(at, count);
    }
  }
  return result;
}

/// Whether all letters of a format stand after a %, but for a T between date and time.
bool has_percents_alone(std::string_view format) {
  for (std::size_t at = 0; at < format.size(); ++at) {
    const char lower = static_cast<char>(format[at] | 0x20);
    if (format[at] == '%')
      ++at;
    else if (lower >= 'a' && lower <= 'z' && format[at] != 'T')
      return false;
  }
  return format.find('%') != format.npos;
}

}  // namespace

void check_date_format(const char* op, std::string_view format, bool reads) {
  if (!format.empty() && format.find('%') == format.npos) {
    const std::string meant = with_percents(format);
    throw Error("[{}] expected a date's format of letters after %, such as \"{}\", got \"{}\"", op,
                has_percents_alone(meant) ? meant : "%d/%m/%Y", format);
  }
  constexpr std::string_view letters = "YymdjbBaAHIpMSfFT%";
  bool has_year = false, has_month = false, has_day = false;
  for_each_part(
      format,
      [&](char c) {
        if (c == '%') throw Error("[{}] expected a letter after each % of a date's format, got \"{}\"", op, format);
      },
      [&](char letter) {
        if (letters.find(letter) == letters.npos)
          throw Error(
              "[{}] expected a date's format of %Y %y %m %d %j %b %B %a %A %H %I %p %M %S %f %F %T and %%, got %{}", op,
              letter);
        has_year = has_year || letter == 'Y' || letter == 'y' || letter == 'F';
        has_month = has_month || letter == 'm' || letter == 'b' || letter == 'B' || letter == 'F' || letter == 'j';
        has_day = has_day || letter == 'd' || letter == 'F' || letter == 'j';
      });
  if (reads && !(has_year && (has_month || !has_day)))
    throw Error("[{}] expected a date's format with the year, and the month where it has the day, got \"{}\"", op,
                format);
}

namespace {

// Where both fit, the month before the day comes first.
constexpr std::string_view day_formats[] = {"%Y-%m-%d", "%Y/%m/%d", "%m/%d/%Y", "%d/%m/%Y",  "%d.%m.%Y",
                                            "%m-%d-%Y", "%d-%m-%Y", "%m/%d/%y", "%d/%m/%y",  "%d.%m.%y",
                                            "%d %b %Y", "%d-%b-%Y", "%d-%b-%y", "%b %d, %Y", "%b %d %Y"};
constexpr std::string_view time_formats[] = {"", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p"};

/// The name of a time zone at the end, as in 09:30:00 EST or 09:30:00 Europe/Paris; empty for other texts.
std::string_view zone_of(std::string_view text) {
  const std::size_t space = text.rfind(' ');
  if (space == text.npos || !parse_date(text.substr(0, space))) return {};
  const std::string_view zone = text.substr(space + 1);
  constexpr std::string_view capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", others = "abcdefghijklmnopqrstuvwxyz_/";
  const bool is_place = zone.find('/') != zone.npos;
  const bool is_name = std::ranges::all_of(
      zone, [&](char c) { return capitals.find(c) != capitals.npos || (is_place && others.find(c) != others.npos); });
  return zone.size() >= 2 && is_name && capitals.find(zone[0]) != capitals.npos ? zone : "";
}

}  // namespace

std::vector<std::string> date_formats(std::string_view text) {
  std::vector<std::string> found;
  for (const std::string_view day : day_formats)
    for (const std::string_view time : time_formats)
      if (std::string format = std::string(day) + std::string(time); parse_date(text, format))
        found.push_back(std::move(format));
  return found;
}

std::string date_advice(std::string_view text, const std::function<std::string(const std::string& format)>& reads) {
  const std::vector<std::string> formats = date_formats(text);
  if (!formats.empty())
    return "; " + reads(formats[0]) + " reads it" +
           (formats.size() > 1 ? ", or \"" + formats[1] + "\" if that is the order of day and month" : "");
  constexpr std::string_view digits = "0123456789";
  if (text.size() == 8 && text.find_first_not_of(digits) == text.npos && parse_date(text, "%Y%m%d"))
    return "; " + reads("%Y%m%d") + " reads it";
  const bool is_time = text.size() >= 4 && text.find(':') <= 2 && text.find_first_not_of("0123456789:.") == text.npos;
  if (is_time) return "; gpu.durations(x) makes a length of time of it, which can be added to dates";
  const std::string_view zone = zone_of(text);
  return zone.empty() ? ""
                      : "; dates are in UTC, and names of zones are not read: " + std::string(zone) +
                            " is written as its offset, such as -05:00";
}

}  // namespace gpulua
