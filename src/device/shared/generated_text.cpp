#include "src/device/shared/generated_text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <system_error>
#include <utility>

namespace gpulua {

namespace {

/// Whether a message begins with the line: `file:12: error: ...`.
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

}  // namespace

KernelSource own_source(std::string text) {
  KernelSource source;
  source.text = std::move(text);
  source.file = generated_file;
  source.whole_warps = true;
  source.own = true;
  return source;
}

std::string without_generated_notes(std::string_view messages) {
  std::string kept;
  bool leaves_out = false;
  while (!messages.empty()) {
    const std::size_t end = std::min(messages.find('\n'), messages.size());
    const std::string_view line = messages.substr(0, end);
    if (begins_message(line))
      leaves_out = line.starts_with(std::string(generated_file) + ":") && line.find(": note: ") != line.npos;
    if (!leaves_out) kept.append(line).push_back('\n');
    messages.remove_prefix(std::min(end + 1, messages.size()));
  }
  return kept;
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

}  // namespace gpulua
