#include "bindings/lua/source_location.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "bindings/lua/chunk_texts.h"
#include "bindings/lua/state.h"

namespace gpulua {

namespace {

/// Calls `take` with the texts of a frame's chunk, the newest first, until it gives true: those that were loaded under
/// the chunk's name, and only where none were, its file, whose name a script that is not trusted chooses freely.
template <class Take>
void look_in_texts(lua_State* L, const lua_Debug& frame, Take take) {
  bool is_kept = false;
  find_chunk_text(L, frame.source, [&](std::string_view text) { return is_kept = true, take(text); });
  if (is_kept || frame.source[0] == '=') return;
  const Bindings* bindings = find_bindings(L);
  if (frame.source[0] != '@')
    take(frame.source);
  else if (bindings != nullptr && bindings->context().rights.trusted)
    take(file_text(frame.source + 1));
}

/// The line of `chunk` where `text` begins. If it occurs several times: the occurrence nearest to the call at `line`.
std::optional<int> find_line(std::string_view chunk, std::string_view text, int line) {
  std::optional<int> found;
  int current = 1, nearest = 0;
  std::size_t counted = 0;
  for (std::size_t at = chunk.find(text); at != std::string_view::npos; at = chunk.find(text, at + 1)) {
    current += static_cast<int>(std::count(chunk.begin() + static_cast<std::ptrdiff_t>(counted),
                                           chunk.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    counted = at;
    // A long string's brackets are on the line before the first line of its text.
    const int distance = std::abs(current - (at > 0 && chunk[at - 1] == '\n') - line);
    if (found && distance >= nearest) continue;
    found = current;
    nearest = distance;
  }
  return found;
}

}  // namespace

std::string file_text(const char* path) {
  std::error_code failure;
  if (!std::filesystem::is_regular_file(path, failure)) return {};
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string chunk_name(const lua_Debug& frame) {
  return name_in_line(frame.source[0] == '@' ? frame.source + 1 : frame.short_src);
}

std::string name_in_line(std::string name) {
  for (char& c : name)
    if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' ') c = '\'';
  return name;
}

SourceLocation locate_source(lua_State* L, std::string_view text) {
  SourceLocation call{std::string(nowhere)};
  bool innermost = true;
  lua_Debug frame{};
  for (int level = 0; lua_getstack(L, level, &frame); ++level) {
    lua_getinfo(L, "Sl", &frame);
    if (frame.currentline <= 0 || std::strcmp(frame.source, "=[gpulua]") == 0) continue;
    if (innermost) call.file = "<kernel source at " + chunk_name(frame) + ":" + std::to_string(frame.currentline) + ">";
    innermost = false;
    if (text.empty()) break;
    std::optional<int> line;
    look_in_texts(L, frame, [&](std::string_view chunk) {
      line = find_line(chunk, text, frame.currentline);
      return line.has_value();
    });
    if (line) return {chunk_name(frame), *line};
  }
  return call;
}

namespace {

/// Nothing where the text has no such line.
std::optional<std::string> line_of(std::string_view text, int number) {
  std::size_t first = text.empty() ? text.npos : 0;
  for (int line = 1; line < number && first != text.npos; ++line) {
    first = text.find('\n', first);
    if (first != text.npos) ++first;
  }
  if (first == text.npos) return {};
  return std::string(text.substr(first, text.find('\n', first) - first));
}

}  // namespace

std::optional<std::string> line_text(lua_State* L, const lua_Debug& frame) {
  // Of the lines typed at the prompt each text has its own, behind empty ones.
  std::optional<std::string> line;
  look_in_texts(L, frame, [&](std::string_view text) {
    line = line_of(text, frame.currentline);
    return line && !line->empty();
  });
  return line;
}

}  // namespace gpulua
