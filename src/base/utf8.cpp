#include "src/base/utf8.h"

namespace gpulua {

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
  std::size_t at = 0;
  while (at < text.size()) {
    const unsigned lead = byte(at), next = byte(at + 1);
    const std::size_t length = lead < 0x80   ? 1
                               : lead < 0xC2 ? 0
                               : lead < 0xE0 ? 2
                               : lead < 0xF0 ? 3
                               : lead < 0xF5 ? 4
                                             : 0;
    // Longer forms of shorter characters, halves of UTF-16's pairs, and what is beyond the last character.
    const bool is_wrong = length == 0 || (lead == 0xE0 && next < 0xA0) || (lead == 0xED && next > 0x9F) ||
                          (lead == 0xF0 && next < 0x90) || (lead == 0xF4 && next > 0x8F);
    if (is_wrong) return at;
    for (std::size_t i = 1; i < length; ++i)
      if ((byte(at + i) & 0xC0) != 0x80) return at;
    at += length;
  }
  return at;
}

std::string valid_utf8(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t valid = utf8_length(text);
    result += text.substr(0, valid);
    text.remove_prefix(valid);
    if (text.empty()) break;
    result += "\xef\xbf\xbd";
    text.remove_prefix(1);
  }
  return result;
}

}  // namespace gpulua
