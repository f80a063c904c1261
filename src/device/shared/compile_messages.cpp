#include "src/device/shared/compile_messages.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <system_error>

namespace gpulua {

bool begins_message(std::string_view line) {
  for (const std::string_view kind : {": error: ", ": warning: ", ": note: ", ": fatal error: "}) {
    const std::size_t end = line.find(kind);
    if (end == line.npos) continue;
    const std::size_t colon = line.rfind(':', end - 1);
    const std::string_view number = colon == line.npos ? "" : line.substr(colon + 1, end - colon - 1);
    if (!number.empty() && std::ranges::all_of(number, [](unsigned char c) { return std::isdigit(c) != 0; }))
      return true;
  }
  return false;
}

std::string first_errors(std::string_view messages) {
  constexpr std::size_t most = 10;
  std::size_t errors = 0, kept = messages.size();
  for (std::size_t at = 0; at < messages.size();) {
    const std::size_t end = std::min(messages.find('\n', at), messages.size());
    const std::string_view line = messages.substr(at, end - at);
    // How clang ends where it gives up.
    const bool gives_up = line.find("fatal error: too many errors emitted") != line.npos;
    if (gives_up) kept = std::min(kept, at);
    if (!gives_up && begins_message(line) && line.find("error: ") != line.npos && ++errors == most + 1) kept = at;
    at = end + 1;
  }
  std::string result(messages.substr(0, kept));
  while (!result.empty() && result.back() == '\n') result.pop_back();
  if (errors > most)
    result += "\n" + std::to_string(errors - most) + (errors == most + 1 ? " more error" : " more errors");
  return result;
}

std::size_t count_errors(std::string_view messages) {
  constexpr std::size_t cut_short = 1000;  // the compiler read no further: more than any number of others
  std::size_t count = 0;
  while (!messages.empty()) {
    const std::size_t end = std::min(messages.find('\n'), messages.size());
    const std::string_view line = messages.substr(0, end);
    std::size_t left_out = 0;
    const auto number = std::from_chars(line.data(), line.data() + end, left_out);
    if (number.ec == std::errc() && std::string_view(number.ptr, line.data() + end).starts_with(" more error"))
      count += left_out;
    else if (line.find(" error: ") != line.npos)
      count += line.find(" error: cannot open source file") == line.npos ? 1 : cut_short;
    messages.remove_prefix(std::min(end + 1, messages.size()));
  }
  return count;
}

std::vector<MessagePlace> error_places(std::string_view messages) {
  std::vector<MessagePlace> places;
  while (!messages.empty()) {
    const std::size_t end = std::min(messages.find('\n'), messages.size());
    const std::string_view line = messages.substr(0, end);
    messages.remove_prefix(std::min(end + 1, messages.size()));
    const std::size_t error = std::min(line.find(": error: "), line.find(": catastrophic error: "));
    if (error == line.npos) continue;
    const std::size_t colon = line.substr(0, error).rfind(':');
    if (colon == line.npos) continue;
    MessagePlace place{line.substr(0, colon), 0};
    const char* const last = line.data() + error;
    const auto number = std::from_chars(line.data() + colon + 1, last, place.line);
    if (number.ec == std::errc() && number.ptr == last) places.push_back(place);
  }
  return places;
}

std::vector<TextRange> lines_of_number(std::string_view text, int first, int number) {
  constexpr std::string_view directive = "#line ";
  std::vector<TextRange> ranges;
  int line = first;
  for (std::size_t begin = 0; begin < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (line == number) ranges.push_back({begin, end});
    if (text.substr(begin).starts_with(directive)) {
      int next = 0;
      const char* const from = text.data() + begin + directive.size();
      if (std::from_chars(from, text.data() + end, next).ec == std::errc()) line = next - 1;
    }
    begin = end + 1;
  }
  return ranges;
}

}  // namespace gpulua
