#include "src/files/date_formats.h"

#include "src/files/date_text.h"

namespace gpulua {

namespace {

// Where both fit, the month before the day comes first.
constexpr std::string_view day_formats[] = {"%Y/%m/%d", "%m/%d/%Y", "%d/%m/%Y",  "%d.%m.%Y", "%m-%d-%Y",
                                            "%d-%m-%Y", "%m/%d/%y", "%d/%m/%y",  "%d.%m.%y", "%d %b %Y",
                                            "%d-%b-%Y", "%d-%b-%y", "%b %d, %Y", "%b %d %Y"};
constexpr std::string_view time_formats[] = {"", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p"};

/// The letters of a time zone at the end, as in 09:30:00 EST; empty for other texts.
std::string_view zone_of(std::string_view text) {
  const std::size_t space = text.rfind(' ');
  if (space == text.npos || !parse_date(text.substr(0, space))) return {};
  const std::string_view zone = text.substr(space + 1);
  return zone.size() >= 2 && zone.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") == zone.npos ? zone : "";
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
  const bool is_time = text.size() >= 4 && text.find(':') <= 2 && text.find_first_not_of("0123456789:.") == text.npos;
  if (is_time) return "; gpu.durations(x) makes a length of time of it, which can be added to dates";
  const std::string_view zone = zone_of(text);
  return zone.empty() ? ""
                      : "; dates are in UTC, and " + std::string(zone) + " is written as its offset, such as -05:00";
}

}  // namespace gpulua
