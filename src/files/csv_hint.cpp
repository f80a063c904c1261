#include "src/files/csv_hint.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>

#include "src/base/error.h"

namespace gpulua {

namespace {

constexpr char separators[] = {';', '\t', '|', ','};

/// Takes the first line that is not empty from the text.
std::string_view take_line(std::string_view& text) {
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, length);
    text.remove_prefix(std::min(length + 1, text.size()));
    if (line.find_first_not_of(" \r") != std::string_view::npos) return line;
  }
  return {};
}

/// What a line begins with that is a comment; empty for others.
std::string_view comment_mark(std::string_view line) {
  for (const std::string_view mark : {"#", "%", "//"})
    if (line.starts_with(mark)) return mark;
  return {};
}

/// The separator that both lines have equally often; 0 where none is.
char common_separator(std::string_view line, std::string_view next, char separator) {
  for (const char other : separators) {
    const auto count = std::ranges::count(line, other);
    if (other != separator && count > 0 && count == std::ranges::count(next, other)) return other;
  }
  return 0;
}

bool is_number(std::string_view word) {
  double value = 0;
  const char* const end = word.data() + word.size();
  const auto [at, fault] = std::from_chars(word.data() + (word.starts_with('+') ? 1 : 0), end, value);
  return fault != std::errc::invalid_argument && at == end;
}

/// How many words a line has, with spaces or tabs between them, and how many of them are numbers.
struct Words {
  std::size_t count = 0, numbers = 0;
};

Words words_of(std::string_view line) {
  constexpr std::string_view spaces = " \t\r";
  Words words;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(spaces), line.size()));
    if (line.empty()) return words;
    const std::string_view word = line.substr(0, line.find_first_of(spaces));
    ++words.count;
    if (is_number(word)) ++words.numbers;
    line.remove_prefix(word.size());
  }
}

std::string quoted(char separator) {
  return separator == '\t' ? "\"\\t\"" : '"' + std::string(1, separator) + '"';
}

std::string_view text_of(const char* at, const char* end) {
  return {at, static_cast<std::size_t>(end - at)};
}

}  // namespace

void refuse_utf16(std::span<const char> bytes, const std::string& file) {
  const std::string_view text(bytes.data(), bytes.size());
  const bool has_mark = text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF");
  if (!has_mark && text.substr(0, text.find('\n')).find('\0') == std::string_view::npos) return;
  throw Error("[load] expected text in UTF-8, got {} in {}; iconv -f UTF-16{} -t UTF-8 makes UTF-8 of it",
              has_mark ? "UTF-16" : "bytes of 0, as UTF-16 has them", file, has_mark ? "" : "LE");
}

void refuse_lone_returns(const std::string& op, std::string_view text, const std::string& file) {
  if (text.find('\n') != text.npos) return;
  const std::size_t at = text.find('\r');
  if (at == text.npos || at + 1 == text.size()) return;
  throw Error("[{}] expected lines that end with \\n or \\r\\n, got \\r alone in {}; tr '\\r' '\\n' makes lines of it",
              op, file);
}

void refuse_other_separator(const char* at, const char* end, char separator, const std::string& file) {
  std::string_view text = text_of(at, end);
  const std::string_view line = take_line(text), next = take_line(text);
  if (line.starts_with('"') || next.starts_with('"')) return;
  const char other = common_separator(line, next, separator);
  if (const Words words = words_of(next);
      other == 0 && words.count > 1 && words.numbers == words.count && words_of(line).count == words.count)
    throw Error(
        "[load] expected {} between fields, got lines of {} numbers with spaces between them in {}; {{sep = \" \"}} "
        "reads them where one space stands between two, gpu.loadtxt(path) with any spaces, {{sep = {}}} as one column",
        quoted(separator), words.count, file, quoted(separator));
  if (other == 0) return;
  throw Error(
      "[load] expected {} between fields, got lines with {} alone in {}; {{sep = {}}} reads them, {{sep = {}}} as one "
      "column",
      quoted(separator), quoted(other), file, quoted(other), quoted(separator));
}

std::string advice_for_lines(const char* first, const char* at, const char* end, char separator) {
  std::string_view text = text_of(first, end), text_at = text_of(at, end);
  const std::string_view line = take_line(text);
  for (const std::string_view one : {line, take_line(text_at)})
    if (const std::string_view mark = comment_mark(one); !mark.empty())
      return "; {comments = \"" + std::string(mark) + "\"} leaves out lines that are comments";
  const char other = common_separator(line, take_line(text), separator);
  if (other != 0) return "; {sep = " + quoted(other) + "} reads such fields";
  return std::ranges::count(take_line(text_at = text_of(at, end)), separator) < std::ranges::count(line, separator)
             ? std::string("; a line that lacks fields needs their ") + quoted(separator) +
                   " for missing values, and max_rows and skip leave out lines at the ends"
             : "";
}

}  // namespace gpulua
