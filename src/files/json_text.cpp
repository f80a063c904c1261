#include "src/files/json_text.h"

#include <algorithm>
#include <charconv>

#include "src/base/error.h"

namespace gpulua {

namespace {

void append_utf8(std::string& text, unsigned code) {
  const auto add = [&](unsigned byte) { text += static_cast<char>(byte); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xc0 | code >> 6);
  } else {
    if (code < 0x10000) {
      add(0xe0 | code >> 12);
    } else {
      add(0xf0 | code >> 18);
      add(0x80 | (code >> 12 & 0x3f));
    }
    add(0x80 | (code >> 6 & 0x3f));
  }
  add(0x80 | (code & 0x3f));
}

}  // namespace

void JsonText::fail(const std::string& what) const {
  throw Error("{}: the header is damaged: {}", where_, what);
}

void JsonText::skip_space() {
  at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
}

bool JsonText::accept(char c) {
  skip_space();
  if (at_ == text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

void JsonText::expect(char c) {
  if (!accept(c)) fail(std::string("no ") + c + " at byte " + std::to_string(at_));
}

void JsonText::expect_end() {
  skip_space();
  if (at_ != text_.size()) fail("trailing characters");
}

unsigned JsonText::read_code() {
  unsigned code = 0;
  const char* const first = text_.data() + at_;
  const auto [end, failure] = std::from_chars(first, first + std::min<std::size_t>(4, text_.size() - at_), code, 16);
  if (failure != std::errc() || end != first + 4) fail("\\u needs four hexadecimal digits");
  at_ += 4;
  return code;
}

std::string JsonText::read_string() {
  expect('"');
  std::string result;
  while (at_ < text_.size()) {
    const char c = text_[at_++];
    if (c == '"') return result;
    if (c != '\\') {
      result += c;
      continue;
    }
    if (at_ == text_.size()) break;
    const char escape = text_[at_++];
    constexpr std::string_view names = "\"\\/bfnrt", values = "\"\\/\b\f\n\r\t";
    if (const std::size_t at = names.find(escape); at != names.npos) {
      result += values[at];
    } else if (escape == 'u') {
      unsigned code = read_code();
      if (code >= 0xd800 && code < 0xdc00 && text_.substr(at_, 2) == "\\u") {
        at_ += 2;
        code = 0x10000 + ((code - 0xd800) << 10) + ((read_code() - 0xdc00) & 0x3ff);
      }
      append_utf8(result, code);
    } else {
      fail("an unknown escape in a string");
    }
  }
  fail("a string without end");
}

std::int64_t JsonText::read_integer() {
  skip_space();
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
  if (failure != std::errc() || value < 0) fail("no integer from 0 to 2^63-1 at byte " + std::to_string(at_));
  at_ = static_cast<std::size_t>(end - text_.data());
  return value;
}

}  // namespace gpulua
