#include "src/device/shared/generated_text.h"

#include <algorithm>
#include <cctype>

namespace gpulua {

namespace {

/// Whether a message begins with the line: `file:12: error: ...`.
bool begins_message(std::string_view line) {
  for (const std::string_view kind : {": error: ", ": warning: ", ": note: ", ": fatal error: "}) {
    const std::size_t end = line.find(kind);
    if (end == line.npos) continue;
    const std::size_t colon = line.rfind(':', end - 1);
    const std::string_view number = colon == line.npos ? "" : line.substr(colon + 1, end - colon - 1);
    if (!number.empty() && std::ranges::all_of(number, [](unsigned char c) { return std::isdigit(c) != 0; })) return true;
  }
  return false;
}

}  // namespace

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

}  // namespace gpulua
