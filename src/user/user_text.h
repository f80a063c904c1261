#pragma once

// A script's text that becomes part of a kernel.

#include <optional>
#include <string>
#include <string_view>

#include "src/base/characters.h"
#include "src/ops/user_function.h"
#include "src/user/user_parameter.h"

namespace gpulua {

/// A script's text and its location in the script.
struct UserText {
  std::string text;
  std::string file;
  int line = 1;
};

/// A bracket of the text that nothing closes, or that closes nothing; 0 without one. Also 0 for a text with #if, whose
/// branches may open a bracket each.
char open_bracket(std::string_view text);

/// False for an expression that ends with an operator or a semicolon, or whose brackets do not close.
bool is_whole_expression(std::string_view text);

/// True when the identifier `word` occurs in the text.
bool has_word(std::string_view text, std::string_view word);

/// False when statements name the variable nowhere, or only in places that read it: y == x. True where it is set,
/// passed on or indexed, and in a macro.
bool may_set(std::string_view statements, std::string_view variable);

/// The text between #line directives, so that the compiler's messages name the script's lines.
std::string placed(const UserText& text);

/// The C++ type of a number in a body: float for 16-bit floating-point dtypes.
std::string type_name(DType dtype);
/// `using T = float;` for each type variable, and `_type_reduce` for the type of a reduction's accumulator.
std::string type_names(const TypeVariables& type_variables, const std::optional<UserParameter>& reduce_type);

/// Wraps the preamble and `text` in a namespace with a unique name.
UserFunction make_function(const UserText& preamble, const std::string& text);

}  // namespace gpulua
