#include "src/base/json_string.h"

namespace gpulua {

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

}  // namespace gpulua
