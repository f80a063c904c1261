#include "src/notebook/text.h"

#include <algorithm>
#include <cctype>
#include <cstdint>

namespace gpulua {
namespace {

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == ':';
}

/// The bracket of the call that the byte is in; npos: in none.
std::size_t open_bracket(std::string_view code, std::size_t byte) {
  int closed = 0;
  for (std::size_t at = byte; at-- > 0;) {
    if (code[at] == ')') ++closed;
    if (code[at] == '(' && closed-- == 0) return at;
  }
  return code.npos;
}

}  // namespace

std::string base64(std::string_view bytes) {
  constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) group = group << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0);
    for (std::size_t k = 0; k < 4; ++k) text += k <= count ? digits[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::size_t byte_of(std::string_view code, int place) {
  std::size_t byte = 0;
  for (; place > 0 && byte < code.size(); --place) {
    ++byte;
    while (byte < code.size() && is_continuation(code[byte])) ++byte;
  }
  return byte;
}

int place_of(std::string_view code, std::size_t byte) {
  const auto before = code.substr(0, byte);
  return static_cast<int>(std::ranges::count_if(before, [](char c) { return !is_continuation(c); }));
}

std::string_view name_before(std::string_view code, std::size_t byte) {
  std::size_t first = byte;
  while (first > 0 && is_name(code[first - 1])) --first;
  return code.substr(first, byte - first);
}

std::string_view name_around(std::string_view code, std::size_t byte) {
  std::size_t end = byte;
  while (end < code.size() && is_name(code[end])) ++end;
  if (const auto name = name_before(code, end); !name.empty()) return name;
  const std::size_t bracket = open_bracket(code, byte);
  return bracket == code.npos ? std::string_view() : name_before(code, bracket);
}

std::size_t whole_characters(std::string_view text) {
  std::size_t last = text.size();
  while (last > 0 && text.size() - last < 3 && is_continuation(text[last - 1])) --last;
  if (last == 0) return text.size();
  const auto lead = static_cast<unsigned char>(text[last - 1]);
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  return text.size() - (last - 1) < length ? last - 1 : text.size();
}

}  // namespace gpulua
