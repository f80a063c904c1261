#pragma once

// Text of a script's that becomes part of a kernel.

#include <optional>
#include <string>
#include <string_view>

#include "src/ops/user_function.h"
#include "src/user/user_parameter.h"

namespace gpulua {

/// Text of the script's, and where it stands there.
struct UserText {
  std::string text;
  std::string file;
  int line = 1;
};

/// Part of an identifier.
bool is_word(char c);
/// True when the identifier `word` occurs in the text.
bool has_word(std::string_view text, std::string_view word);

/// The text with what tells the compiler where it stands.
std::string placed(const UserText& text);

/// A number's type as a body sees it: 16-bit floating types are float there.
std::string type_name(DType dtype);
/// `using T = float;` for each letter, and the type that is reduced in.
std::string type_names(const Letters& letters, const std::optional<UserParameter>& reduce_type);

/// A namespace of its own around the preamble and `text`.
UserFunction make_function(const UserText& preamble, const std::string& text);

}  // namespace gpulua
