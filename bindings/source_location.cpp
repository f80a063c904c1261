#include "bindings/source_location.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>

namespace gpulua {

namespace {

/// The text of the chunk that a frame runs: a file's, or the string that was loaded. Empty where it cannot be had.
std::string chunk_text(const lua_Debug& frame) {
  if (frame.source[0] == '=') return {};
  if (frame.source[0] != '@') return frame.source;
  std::ifstream file(frame.source + 1, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The chunk's name, without what would end or escape the name in a `#line`.
std::string chunk_name(const lua_Debug& frame) {
  std::string name = frame.source[0] == '@' ? frame.source + 1 : frame.short_src;
  for (char& c : name)
    if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' ') c = '\'';
  return name;
}

int line_of(std::string_view chunk, std::size_t position) {
  return 1 + static_cast<int>(std::count(chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(position), '\n'));
}

/// The line of `chunk` where `text` begins. Of several places, the last that begins no later than the call at `line`.
std::optional<int> find_line(std::string_view chunk, std::string_view text, int line) {
  std::size_t found = chunk.find(text);
  if (found == std::string_view::npos) return std::nullopt;
  for (std::size_t next = found; (next = chunk.find(text, next + 1)) != std::string_view::npos;) {
    // A long string starts in the line of its brackets, which is the one before the text's first.
    if (line_of(chunk, next - 1) > line) break;
    found = next;
  }
  return line_of(chunk, found);
}

}  // namespace

SourceLocation locate_source(lua_State* L, std::string_view text) {
  SourceLocation call{"<kernel source>"};
  bool innermost = true;
  lua_Debug frame{};
  for (int level = 0; lua_getstack(L, level, &frame); ++level) {
    lua_getinfo(L, "Sl", &frame);
    if (frame.currentline <= 0 || std::strcmp(frame.source, "=[gpulua]") == 0) continue;
    if (innermost) call.file = "<kernel source at " + chunk_name(frame) + ":" + std::to_string(frame.currentline) + ">";
    innermost = false;
    if (text.empty()) break;
    if (const auto line = find_line(chunk_text(frame), text, frame.currentline)) return {chunk_name(frame), *line};
  }
  return call;
}

}  // namespace gpulua
