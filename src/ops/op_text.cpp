#include "src/ops/op_text.h"

#include <algorithm>
#include <array>

#include "src/base/characters.h"

namespace gpulua {

bool is_small_float(DType dtype) {
  return dtype == DType::float16 || dtype == DType::bfloat16;
}

std::string element_type(DType dtype) {
  return std::string(info(dtype).device);
}

std::string register_type(DType dtype) {
  return is_small_float(dtype) ? "float" : element_type(dtype);
}

std::string converted(const std::string& text, DType from, DType to) {
  if (from == to) return text;
  const std::string converted = "gpulua_convert<" + element_type(to) + ">::from(" + text + ")";
  return is_small_float(to) ? "gpulua_widen(" + converted + ")" : converted;
}

std::string loaded(const std::string& text, DType dtype) {
  return is_small_float(dtype) ? "gpulua_widen(" + text + ")" : text;
}

std::string stored(const std::string& text, DType dtype) {
  return is_small_float(dtype) ? "gpulua_convert<" + element_type(dtype) + ">::from(" + text + ")" : text;
}

std::string substitute(std::string_view text, const TextNames& names) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end == at) {
      result += text[at++];
      continue;
    }
    const std::string_view word = text.substr(at, end - at);
    const auto name = std::find_if(names.begin(), names.end(), [&](const auto& entry) { return entry.first == word; });
    result += name == names.end() ? std::string(word) : name->second;
    at = end;
  }
  return result;
}

std::string_view row_text(const OpInfo& op, DType compute) {
  if (compute == DType::boolean && !op.boolean.empty()) return op.boolean;
  if ((compute == DType::boolean || is_integer(compute)) && !op.integer.empty()) return op.integer;
  return op.expression;
}

std::string rounded(const std::string& text, const OpInfo& op, DType compute, DType result) {
  if (op.rule == DTypeRule::conversion) return converted(text, compute, result);
  if (is_small_float(result)) return "gpulua_widen(" + stored(text, result) + ")";
  return is_integer(result) ? "(" + register_type(result) + ")(" + text + ")" : text;
}

std::string_view operand_letter(std::size_t index) {
  static constexpr std::array<std::string_view, 5> operands{"x", "y", "z", "w", "v"};
  return operands[index];
}

}  // namespace gpulua
