#include "src/base/json_string.h"

#include <cstddef>

namespace gpulua {

namespace {

/// The bytes of the character that the text begins with; 0: it begins with none.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [text](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t bytes = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  for (std::size_t at = 1; at < bytes; ++at)
    if ((byte(at) & 0xc0U) != 0x80) return 0;
  // Shorter forms of these exist; surrogates and codes past the last one do not.
  const unsigned second = byte(1);
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0)) return 0;
  if ((first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90)) return 0;
  return bytes;
}

}  // namespace

std::string to_json(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    constexpr std::string_view digits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') result += '\\';
    if (byte >= 0x20)
      result += c;
    else
      (result += "\\u00") += {digits[byte >> 4], digits[byte & 15]};
  }
  return result + '"';
}

std::string valid_utf8(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    if (bytes > 0)
      result += text.substr(0, bytes);
    else
      result += "\xef\xbf\xbd";
    text.remove_prefix(bytes > 0 ? bytes : 1);
  }
  return result;
}

}  // namespace gpulua
