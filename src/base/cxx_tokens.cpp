#include "src/base/cxx_tokens.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "src/base/characters.h"

namespace gpulua {
namespace {

using Kind = CxxToken::Kind;

/// A token without directives, or what separates tokens.
struct Piece {
  enum class Gap { none, blank, newline } gap = Gap::none;
  std::size_t end;
  Kind kind = Kind::end;
};

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

std::size_t past(std::string_view text, std::string_view what, std::size_t from) {
  const std::size_t found = text.find(what, std::min(from, text.size()));
  return found == text.npos ? text.size() : found + what.size();
}

/// The end of a backslash that continues the line at the next one; `at` for anything else.
std::size_t past_splice(std::string_view text, std::size_t at) {
  if (text.substr(at, 2) == "\\\n") return at + 2;
  return text.substr(at, 3) == "\\\r\n" ? at + 3 : at;
}

std::size_t end_of_line(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] != '\n') at = std::max(past_splice(text, at), at + 1);
  return at;
}

std::size_t end_of_number(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    const char c = text[at], before = text[at - 1];
    const bool is_sign = (c == '+' || c == '-') && (before == 'e' || before == 'E' || before == 'p' || before == 'P');
    const bool separates = c == '\'' && at + 1 < text.size() && is_word(text[at + 1]);
    if (!is_word(c) && c != '.' && !is_sign && !separates) break;
  }
  return at;
}

/// Of the string or character whose quotation mark is at `quote`.
Piece literal(std::string_view text, std::size_t quote, bool raw) {
  const Kind kind = text[quote] == '"' ? Kind::string : Kind::character;
  if (raw) {
    const std::size_t open = std::min(text.find('(', quote), text.size());
    std::string end = ")";
    end.append(text.substr(quote + 1, open - quote - 1)).append("\"");
    return {Piece::Gap::none, past(text, end, open), kind};
  }
  std::size_t at = quote + 1;
  while (at < text.size() && text[at] != text[quote] && text[at] != '\n') at += text[at] == '\\' ? 2 : 1;
  if (at < text.size() && text[at] == text[quote]) ++at;
  return {Piece::Gap::none, std::min(at, text.size()), kind};
}

/// A word, or a literal whose prefix it is.
Piece word(std::string_view text, std::size_t at) {
  const std::size_t first = at;
  while (at < text.size() && is_identifier(text[at])) ++at;
  std::string_view prefix = text.substr(first, at - first);
  const bool quoted = at < text.size() && (text[at] == '"' || text[at] == '\'');
  const bool raw = quoted && text[at] == '"' && prefix.ends_with('R');
  if (raw) prefix.remove_suffix(1);
  if (quoted && ((raw && prefix.empty()) || prefix == "u8" || prefix == "u" || prefix == "U" || prefix == "L"))
    return literal(text, at, raw);
  return {Piece::Gap::none, at, Kind::word};
}

Piece piece(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (c == '\n') return {Piece::Gap::newline, at + 1};
  if (const std::size_t end = past_splice(text, at); end > at) return {Piece::Gap::blank, end};
  if (std::isspace(static_cast<unsigned char>(c)) != 0) return {Piece::Gap::blank, at + 1};
  if (text.substr(at, 2) == "//") return {Piece::Gap::blank, end_of_line(text, at)};
  if (text.substr(at, 2) == "/*") return {Piece::Gap::blank, past(text, "*/", at + 2)};
  if (c == '"' || c == '\'') return literal(text, at, false);
  if (is_digit(c) || (c == '.' && at + 1 < text.size() && is_digit(text[at + 1])))
    return {Piece::Gap::none, end_of_number(text, at), Kind::number};
  if (is_identifier(c)) return word(text, at);
  return {Piece::Gap::none, at + 1, Kind::mark};
}

}  // namespace

CxxToken CxxTokens::next() {
  while (at_ < text_.size()) {
    const std::size_t first = at_;
    Piece found = piece(text_, first);
    if (found.gap == Piece::Gap::none && starts_line_ && (text_[first] == '#' || text_.substr(first, 2) == "%:")) {
      found.kind = Kind::directive;
      while (found.end < text_.size() && text_[found.end] != '\n') found.end = piece(text_, found.end).end;
    }
    at_ = found.end;
    if (found.gap == Piece::Gap::newline) starts_line_ = true;
    if (found.gap != Piece::Gap::none) continue;
    starts_line_ = false;
    return {found.kind, text_.substr(first, found.end - first)};
  }
  return {};
}

CxxDirective::CxxDirective(const CxxToken& token) {
  CxxTokens tokens(token.text.substr(token.text.starts_with('#') ? 1 : 2));
  name = tokens.next().text;
  rest = tokens.rest();
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
}

std::string_view CxxDirective::included() const {
  if (name != "include" || (!rest.starts_with('<') && !rest.starts_with('"'))) return {};
  const std::size_t end = rest.find_first_of(rest[0] == '<' ? ">\n" : "\"\n", 1);
  return end == rest.npos || rest[end] == '\n' ? std::string_view() : rest.substr(1, end - 1);
}

}  // namespace gpulua
