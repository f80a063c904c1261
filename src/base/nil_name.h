#pragma once

#include <string>
#include <string_view>

namespace gpulua {

/// The name of what Lua's message found nil: io of "attempt to index global 'io' (a nil value)" for the kind "global".
/// Empty where the message is about another kind, or none.
inline std::string_view nil_name(std::string_view message, std::string_view kind) {
  const std::string before = std::string(kind) + " '";
  const std::size_t end = message.find("' (a nil value)"), begin = message.rfind(before, end);
  if (end == message.npos || begin == message.npos) return {};
  return message.substr(begin + before.size(), end - begin - before.size());
}

}  // namespace gpulua
