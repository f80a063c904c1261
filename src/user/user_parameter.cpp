#include "src/user/user_parameter.h"

#include <algorithm>
#include <cctype>

#include "src/base/error.h"
#include "src/user/user_text.h"

namespace gpulua {

namespace {

std::string in_quotes(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> result;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && !std::isspace(static_cast<unsigned char>(text[end]))) ++end;
    if (end > at) result.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return result;
}

bool is_identifier(std::string_view text) {
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(), is_word);
}

UserParameter parse_parameter(std::string_view text, const std::string& where) {
  const std::vector<std::string> parts = words(text);
  UserParameter parameter;
  parameter.raw = parts.size() == 3 && parts[0] == "raw";
  if (parts.size() != (parameter.raw ? 3u : 2u) || !is_identifier(parts.back()))
    throw Error("{}: expected parameters as in \"float32 x, T y, raw T z\", got {}", where, in_quotes(text));
  parameter.name = parts.back();
  if (parameter.name == "i" || parameter.name == "n" || parameter.name[0] == '_')
    throw Error("{}: {} is not a name for a parameter: i, n and names that begin with _ have a meaning of their own",
                where, in_quotes(parameter.name));
  const std::string& type = parts[parts.size() - 2];
  if (type.size() == 1 && std::isalpha(static_cast<unsigned char>(type[0])))
    parameter.type_variable = type[0];
  else if (const auto dtype = find_dtype(type))
    parameter.dtype = dtype;
  else
    throw Error("{}: expected a dtype's name or one letter for the type of {}, got {}{}", where, parameter.name,
                in_quotes(type), dtype_question(type));
  return parameter;
}

}  // namespace

DType dtype_of(const UserParameter& parameter, const TypeVariables& type_variables) {
  return parameter.type_variable == 0 ? *parameter.dtype : type_variables.at(parameter.type_variable);
}

std::vector<UserParameter> parse_parameters(std::string_view text, const std::string& where) {
  std::vector<UserParameter> parameters;
  if (words(text).empty()) return parameters;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    parameters.push_back(parse_parameter(text.substr(at, end - at), where));
    at = end + 1;
  }
  return parameters;
}

std::string to_string(const std::vector<UserParameter>& parameters) {
  std::string text;
  for (const UserParameter& parameter : parameters) {
    text += (text.empty() ? "" : ", ") + std::string(parameter.raw ? "raw " : "");
    text += parameter.type_variable ? std::string(1, parameter.type_variable) : std::string(name(*parameter.dtype));
    text += " " + parameter.name;
  }
  return text;
}

}  // namespace gpulua
