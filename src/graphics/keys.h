#pragma once

#include <span>
#include <string_view>

namespace gpulua {

/// A key's name and its number in GLFW.
struct NamedKey {
  std::string_view name;
  int code;
};

/// The keys with names of their own; a letter or a digit names its key, too.
std::span<const NamedKey> named_keys();
/// The number of a key; -1 for an unknown name.
int find_key(std::string_view name);

}  // namespace gpulua
