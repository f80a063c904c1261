#include "src/luafn/lexer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

#include "src/base/error.h"

namespace gpulua::luafn {

namespace {

using namespace std::string_view_literals;

constexpr std::array keywords{"and"sv,      "break"sv,  "do"sv,   "else"sv, "elseif"sv, "end"sv,  "false"sv, "for"sv,
                              "function"sv, "goto"sv,   "if"sv,   "in"sv,   "local"sv,  "nil"sv,  "not"sv,   "or"sv,
                              "repeat"sv,   "return"sv, "then"sv, "true"sv, "until"sv,  "while"sv};
// The longest first.
constexpr std::array symbols{"..."sv, ".."sv, "=="sv, "~="sv, "<="sv, ">="sv, "::"sv, "+"sv, "-"sv,
                             "*"sv,   "/"sv,  "%"sv,  "^"sv,  "#"sv,  "<"sv,  ">"sv,  "="sv, "("sv,
                             ")"sv,   "{"sv,  "}"sv,  "["sv,  "]"sv,  ";"sv,  ":"sv,  ","sv, "."sv};

// LuaJIT takes every byte of a UTF-8 sequence for a letter.
bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_break(char c) {
  return c == '\n' || c == '\r';
}

}  // namespace

Lexer::Lexer(std::string_view text) : text_(text) {
  skip("\xEF\xBB\xBF");
  if (peek() == '#')  // the first line of a script for the shell
    while (at_ < text_.size() && !is_break(peek())) ++at_;
}

bool Lexer::skip(std::string_view word) {
  if (text_.substr(at_, word.size()) != word) return false;
  at_ += word.size();
  return true;
}

/// One break is \n, \r, or both.
void Lexer::newline() {
  const char first = peek();
  ++at_;
  if (is_break(peek()) && peek() != first) ++at_;
  ++line_;
}

/// The number of equals signs of a long bracket that begins here; -1: none does.
int Lexer::long_bracket() const {
  if (peek() != '[') return -1;
  std::size_t ahead = 1;
  while (peek(ahead) == '=') ++ahead;
  return peek(ahead) == '[' ? static_cast<int>(ahead) - 1 : -1;
}

std::string Lexer::long_text(int level) {
  at_ += static_cast<std::size_t>(level) + 2;
  if (is_break(peek())) newline();
  const std::string closing = "]" + std::string(static_cast<std::size_t>(level), '=') + "]";
  std::string content;
  while (at_ < text_.size() && !skip(closing)) {
    if (is_break(peek())) {
      newline();
      content += '\n';
    } else {
      content += text_[at_++];
    }
  }
  return content;
}

void Lexer::skip_space() {
  while (at_ < text_.size()) {
    if (is_break(peek())) {
      newline();
    } else if (std::isspace(static_cast<unsigned char>(peek()))) {
      ++at_;
    } else if (skip("--")) {
      if (const int level = long_bracket(); level >= 0)
        long_text(level);
      else
        while (at_ < text_.size() && !is_break(peek())) ++at_;
    } else {
      return;
    }
  }
}

void Lexer::read_escape(std::string& into) {
  const char c = peek();
  if (is_break(c)) {
    newline();
    into += '\n';
    return;
  }
  ++at_;
  constexpr std::string_view letters = "abfnrtv", meant = "\a\b\f\n\r\t\v";
  if (const auto letter = letters.find(c); letter != letters.npos) {
    into += meant[letter];
  } else if (c == 'x') {
    unsigned code = 0;
    std::from_chars(text_.data() + at_, text_.data() + std::min(at_ + 2, text_.size()), code, 16);
    into += static_cast<char>(code);
    at_ += 2;
  } else if (c == 'z') {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(peek())))
      if (is_break(peek()))
        newline();
      else
        ++at_;
  } else if (is_digit(c)) {
    unsigned code = static_cast<unsigned>(c - '0');
    for (int digits = 1; digits < 3 && is_digit(peek()); ++digits)
      code = 10 * code + static_cast<unsigned>(text_[at_++] - '0');
    into += static_cast<char>(code);
  } else {  // a quote or a backslash; \u{...} stays as it is, which no name in a kernel is
    into += c;
  }
}

Token Lexer::read_string() {
  Token token{Token::Kind::string, line_};
  const char quote = text_[at_++];
  while (at_ < text_.size() && peek() != quote) {
    const char c = text_[at_++];
    if (c == '\\')
      read_escape(token.text);
    else
      token.text += c;
  }
  ++at_;
  return token;
}

Token Lexer::read_number() {
  Token token{Token::Kind::number, line_};
  const std::size_t first = at_;
  const bool hex = peek() == '0' && (peek(1) == 'x' || peek(1) == 'X');
  char before = 0;
  while (is_letter(peek()) || is_digit(peek()) || peek() == '.' ||
         ((peek() == '+' || peek() == '-') && (before == 'p' || (before == 'e' && !hex))))
    before = static_cast<char>(std::tolower(static_cast<unsigned char>(text_[at_++])));
  token.text = text_.substr(first, at_ - first);
  const std::size_t digits = hex ? 2 : 0;
  const auto format = hex ? std::chars_format::hex : std::chars_format::general;
  const char* const end = token.text.data() + token.text.size();
  const auto parsed = std::from_chars(token.text.data() + digits, end, token.number, format);
  if (parsed.ec == std::errc::result_out_of_range)  // as strtod: a number too great is infinite, one too small is 0
    token.number =
        token.text.find_first_of("eEpP") != token.text.npos && token.text.find('-') != token.text.npos ? 0 : HUGE_VAL;
  if (parsed.ptr != end) token.kind = Token::Kind::wide_number;
  return token;
}

Token Lexer::next() {
  skip_space();
  if (at_ >= text_.size()) return {Token::Kind::end, line_};
  const char c = peek();
  if (is_letter(c)) {
    Token token{Token::Kind::name, line_};
    while (is_letter(peek()) || is_digit(peek())) token.text += text_[at_++];
    if (std::find(keywords.begin(), keywords.end(), token.text) != keywords.end()) token.kind = Token::Kind::keyword;
    return token;
  }
  if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return read_number();
  if (c == '"' || c == '\'') return read_string();
  if (const int level = long_bracket(); level >= 0) {
    const int line = line_;
    return {Token::Kind::string, line, long_text(level)};
  }
  for (const std::string_view symbol : symbols)
    if (skip(symbol)) return {Token::Kind::symbol, line_, std::string(symbol)};
  throw Error("line {}: \"{}\" is not part of Lua 5.1", line_, c);
}

}  // namespace gpulua::luafn
