#pragma once

// Classes of characters in source texts.

#include <cctype>

namespace gpulua {

/// True for a character of an identifier: a letter, a digit or an underscore.
inline bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// The same, or a dollar sign, which CUDA's compilers take in identifiers.
inline bool is_identifier(char c) {
  return is_word(c) || c == '$';
}

}  // namespace gpulua
