#pragma once

#include <string_view>
#include <utility>

#include "src/luafn/lexer.h"

namespace gpulua::luafn {

/// The binding powers of a binary operator to its left and right; 0: no operator.
inline std::pair<int, int> priority(const Token& token) {
  static constexpr std::pair<std::string_view, std::pair<int, int>> table[] = {
      {"or", {1, 1}}, {"and", {2, 2}}, {"<", {3, 3}},  {">", {3, 3}},  {"<=", {3, 3}},
      {">=", {3, 3}}, {"~=", {3, 3}},  {"==", {3, 3}}, {"..", {5, 4}}, {"+", {6, 6}},
      {"-", {6, 6}},  {"*", {7, 7}},   {"/", {7, 7}},  {"%", {7, 7}},  {"^", {10, 9}}};
  for (const auto& [word, powers] : table)
    if (token.is(word)) return powers;
  return {0, 0};
}
inline constexpr int unary_priority = 8;

}  // namespace gpulua::luafn
