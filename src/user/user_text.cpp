#include "src/user/user_text.h"

#include <vector>

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

char open_bracket(std::string_view text) {
  constexpr std::string_view opening = "({[", closing = ")}]";
  std::string open;
  CxxTokens tokens(text);
  for (CxxToken token = tokens.next(); token.kind != CxxToken::Kind::end; token = tokens.next()) {
    if (token.kind == CxxToken::Kind::directive && CxxDirective(token).name.starts_with("if")) return '\0';
    if (token.kind != CxxToken::Kind::mark) continue;
    if (opening.find(token.text) != opening.npos) open += token.text;
    const std::size_t kind = closing.find(token.text);
    if (kind == closing.npos) continue;
    if (open.empty() || open.back() != opening[kind]) return token.text[0];
    open.pop_back();
  }
  return open.empty() ? '\0' : open.back();
}

bool is_whole_expression(std::string_view text) {
  CxxToken last;
  CxxTokens tokens(text);
  for (CxxToken token = tokens.next(); token.kind != CxxToken::Kind::end; token = tokens.next()) last = token;
  const bool ends = last.kind != CxxToken::Kind::mark || last.text == ")" || last.text == "]" || last.text == "}";
  return ends && open_bracket(text) == '\0';
}

bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]))) return true;
  }
  return false;
}

namespace {

/// Whether the tokens after a variable set it: =, += and so on, ++, -- or, by an index or a field, a part of it.
bool are_setting(std::string_view first, std::string_view second, std::string_view third) {
  constexpr std::string_view operators = "+-*/%&|^";
  if (first == "=") return second != "=";
  if (first == "[" || first == ".") return true;
  if (first.size() == 1 && operators.find(first) != operators.npos && second == "=") return third != "=";
  if ((first == "+" || first == "-") && second == first) return true;
  return (first == "<" || first == ">") && second == first && third == "=";
}

/// Whether a variable between these tokens is passed on, by a call, an address or a reference, or chosen by ?:.
bool is_passed(std::string_view before, std::string_view after) {
  const bool begins = before == "(" || before == ",", ends = after == ")" || after == ",";
  return (begins && ends) || before == "&" || before == "?" || before == ":" || before == "+" || before == "-" ||
         (before == "=" && after == ";");
}

}  // namespace

bool may_set(std::string_view statements, std::string_view variable) {
  std::vector<CxxToken> tokens;
  CxxTokens scan(statements);
  for (CxxToken token = scan.next(); token.kind != CxxToken::Kind::end; token = scan.next()) tokens.push_back(token);
  const auto text = [&](std::size_t i) { return i < tokens.size() ? tokens[i].text : std::string_view(); };
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind == CxxToken::Kind::directive && has_word(tokens[i].text, variable)) return true;
    if (tokens[i].kind != CxxToken::Kind::word || tokens[i].text != variable) continue;
    if (are_setting(text(i + 1), text(i + 2), text(i + 3)) || is_passed(i == 0 ? "" : text(i - 1), text(i + 1)))
      return true;
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
