#pragma once

// What one declaration of C++ names, by its tokens.

#include <string_view>
#include <vector>

#include "src/device/shared/code_declarations.h"

namespace gpulua {

/// Stands for a body among the tokens of a declaration.
inline constexpr std::string_view code_body = "{}";

struct CodeNames {
  CodeDeclaration::Kind kind = CodeDeclaration::Kind::named;
  std::vector<std::string_view> names;
  bool is_template = false, is_variable = false, assigns = false;
};

/// `tokens`: of the declaration up to its end, without those in bodies.
CodeNames names_of(const std::vector<std::string_view>& tokens);

/// An identifier or a keyword.
bool is_code_name(std::string_view token);
/// What has parentheses of its own before a function's name.
bool is_code_attribute(std::string_view word);

}  // namespace gpulua
