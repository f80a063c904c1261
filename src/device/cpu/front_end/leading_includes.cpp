#include "src/device/cpu/front_end/leading_includes.h"

#include <algorithm>

#include "src/device/cpu/front_end/prelude.h"

namespace gpulua::cpu {
namespace {

void skip_blanks(std::string_view& text, std::string_view blanks) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
}

bool skip_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

void skip_past(std::string_view& text, std::string_view end) {
  std::size_t at = text.find(end);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + end.size());
}

/// A backslash at the end of a line continues it.
void skip_line(std::string_view& text) {
  for (bool goes_on = true; goes_on;) {
    const std::string_view line = text.substr(0, text.find('\n'));
    goes_on = line.ends_with('\\') || line.ends_with("\\\r");
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
}

void skip_comments(std::string_view& text) {
  for (;;) {
    skip_blanks(text, " \t\r\n");
    if (skip_prefix(text, "//")) {
      skip_line(text);
    } else if (skip_prefix(text, "/*")) {
      skip_past(text, "*/");
    } else {
      return;
    }
  }
}

/// Skips an #include at the start of `text` and returns its header's name; empty for other text.
std::string_view read_include(std::string_view& text) {
  if (!skip_prefix(text, "#")) return {};
  skip_blanks(text, " \t");
  if (!skip_prefix(text, "include")) return {};
  skip_blanks(text, " \t");
  const bool angled = skip_prefix(text, "<");
  if (!angled && !skip_prefix(text, "\"")) return {};
  const std::size_t end = text.find_first_of(angled ? ">\n" : "\"\n");
  if (end == std::string_view::npos || text[end] == '\n') return {};
  const std::string_view name = text.substr(0, end);
  text.remove_prefix(end + 1);
  return name;
}

}  // namespace

std::vector<std::string_view> leading_includes(const KernelSource& source, const CompileOptions& options) {
  if (!source.headers.empty() || !source.include_dirs.empty() || !options.include_dirs.empty() ||
      !options.forced_includes.empty())
    return {};
  std::vector<std::string_view> names;
  for (std::string_view text = source.text;;) {
    skip_comments(text);
    const std::string_view name = read_include(text);
    const auto headers = prelude_headers();
    if (std::none_of(headers.begin(), headers.end(), [&](const PreludeHeader& header) { return header.name == name; }))
      return names;
    names.push_back(name);
  }
}

}  // namespace gpulua::cpu
