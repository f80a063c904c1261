#include "src/user/user_text.h"

#include "src/base/cxx_tokens.h"
#include "src/device/shared/cache.h"
#include "src/device/shared/generated_text.h"

namespace gpulua {

namespace {

std::string line_directive(const UserText& text) {
  return "\n#line " + std::to_string(text.line) + " \"" + text.file + "\"\n";
}

// Follows a script's text: ends a trailing comment and the script's line numbers.
std::string end_of_text() {
  return "\n#line 1 \"" + std::string(generated_file) + "\"\n";
}

/// Moves the #include lines of `preamble` to `includes`, because files must not be included inside the namespace.
std::string split_includes(UserText preamble, std::string& includes) {
  const std::string text = preamble.text;
  CxxTokens tokens(text);
  for (CxxToken token = tokens.next(); token.kind != CxxToken::Kind::end; token = tokens.next()) {
    if (token.kind != CxxToken::Kind::directive || CxxDirective(token).name != "include") continue;
    includes.append(token.text).append("\n");
    const auto first = static_cast<std::size_t>(token.text.data() - text.data());
    for (std::size_t i = first; i < first + token.text.size(); ++i)
      if (text[i] != '\n') preamble.text[i] = ' ';
  }
  return placed(preamble);
}

}  // namespace

bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]))) return true;
  }
  return false;
}

std::string placed(const UserText& text) {
  return text.text.empty() ? "" : line_directive(text) + text.text + end_of_text();
}

std::string type_name(DType dtype) {
  if (dtype == DType::float16 || dtype == DType::bfloat16) return "float";
  if (dtype == DType::complex64) return "gpulua_complex_element64";
  if (dtype == DType::complex128) return "gpulua_complex_element128";
  return std::string(info(dtype).device);
}

std::string type_names(const TypeVariables& type_variables, const std::optional<UserParameter>& reduce_type) {
  std::string text;
  for (const auto& [type_variable, dtype] : type_variables)
    text += "using " + std::string(1, type_variable) + " = " + type_name(dtype) + ";\n";
  if (reduce_type) text += "using _type_reduce = " + type_name(dtype_of(*reduce_type, type_variables)) + ";\n";
  return text;
}

UserFunction make_function(const UserText& preamble, const std::string& text) {
  UserFunction function;
  std::string content = preamble.text.empty() ? "" : split_includes(preamble, function.includes);
  content += text;
  function.id = "gpulua_user_" + CacheKey().add(function.includes).add(content).digest();
  function.text = "namespace " + function.id + " {\n" + content + "}  // namespace " + function.id + "\n\n";
  return function;
}

}  // namespace gpulua
