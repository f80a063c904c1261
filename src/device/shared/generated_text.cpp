#include "src/device/shared/generated_text.h"

#include <algorithm>
#include <utility>

#include "src/device/shared/compile_messages.h"

namespace gpulua {

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

}  // namespace gpulua
