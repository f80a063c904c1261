#include "src/device/shared/source_functions.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "src/base/characters.h"
#include "src/base/near_name.h"
#include "src/device/shared/source_definitions.h"

namespace gpulua {

std::vector<SourceFunction> source_functions(std::string_view text) {
  std::vector<SourceFunction> functions;
  for (Definition& definition : source_definitions(text))
    if (!definition.is_type) functions.push_back(std::move(definition.function));
  return functions;
}

bool uses_dynamic_shared(std::string_view text, std::string_view name) {
  // Which of several versions of the text counts is not known here.
  if (text.find("extern") == text.npos || text.find("#if") != text.npos) return false;
  bool found = false;
  for (const SourceFunction& function : source_functions(text)) {
    if (!function.is_kernel || function.name != base_name(name)) continue;
    if (!function.dynamic_shared) return false;
    found = true;
  }
  return found;
}

std::string parameter_name(std::string_view text, std::string_view name, std::size_t count, std::size_t index) {
  std::optional<std::string> found;
  for (const SourceFunction& function : source_functions(text)) {
    if (!function.is_kernel || function.name != base_name(name) || function.parameters.size() != count) continue;
    if (found && *found != function.parameters[index]) return {};
    found = function.parameters[index];
  }
  return found.value_or("");
}

namespace {

/// True when the tokens from `at` on are those of an assignment operator, ++ or --.
bool assigns(const Tokens& body, std::size_t at) {
  const auto token = [&](std::size_t i) { return at + i < body.size() ? body[at + i] : std::string_view(); };
  const std::string_view first = token(0), second = token(1);
  if (first == "=") return second != "=";
  if (first == "<" || first == ">") return second == first && token(2) == "=";
  if (first == "+" || first == "-") return second == "=" || second == first;
  return second == "=" &&
         (first == "*" || first == "/" || first == "%" || first == "&" || first == "|" || first == "^");
}

/// True when the parameter whose name is the token at `at` is assigned there.
bool is_written_at(const Tokens& body, std::size_t at) {
  const auto before = [&](std::size_t i) { return at >= i ? body[at - i] : std::string_view(); };
  if (before(1) == "." || before(1) == ">") return false;  // a member of another value
  const bool address = before(1) == "&";
  if (before(address ? 2 : 1) == "(" && before(address ? 3 : 2).starts_with("atomic")) return true;
  const bool starts = before(2) == ";" || before(2) == "{" || before(2) == "}" || before(2) == ")";
  if (before(1) == "*" && starts) return assigns(body, at + 1);
  std::size_t end = at + 1;
  if (end >= body.size() || body[end] != "[") return false;
  while (end < body.size() && body[end] == "[") end = past_bracket(body, end, "[", "]");
  while (end + 1 < body.size() && body[end] == "." && is_name(body[end + 1])) end += 2;
  return assigns(body, end);
}

}  // namespace

std::vector<bool> written_parameters(std::string_view text, std::string_view name, std::size_t count) {
  std::vector<bool> written(count);
  if (text.find("#if") != text.npos) return written;
  bool found = false;
  for (const Definition& definition : source_definitions(text)) {
    const SourceFunction& function = definition.function;
    if (!function.is_kernel || function.name != base_name(name) || function.parameters.size() != count) continue;
    if (found) return std::vector<bool>(count);
    found = true;
    for (std::size_t i = 0; i < definition.body.size(); ++i) {
      const auto parameter = std::ranges::find(function.parameters, definition.body[i]);
      if (parameter != function.parameters.end() && is_written_at(definition.body, i))
        written[static_cast<std::size_t>(parameter - function.parameters.begin())] = true;
    }
  }
  return written;
}

std::string missing_kernel_hint(std::string_view text, std::string_view name) {
  const std::vector<SourceFunction> functions = source_functions(text);
  const std::string wanted(base_name(name));
  NearName near(wanted);
  for (const SourceFunction& function : functions) {
    if (!function.is_kernel && function.name == wanted)
      return "; the source's function " + wanted + " is not a kernel: write __global__ before it";
    if (function.is_template && function.name == wanted)
      return "; " + wanted + " is a template: " +
             (name == wanted ? "name an instance of it, as in \"" + wanted + "<float>\""
                             : "gpu.module(source, {names = {\"" + std::string(name) + "\"}}) makes this instance");
    if (!function.is_kernel || function.is_template) near.offer(function.name);
  }
  const auto meant = std::ranges::find(functions, near.name(), &SourceFunction::name);
  if (near.name().empty()) return {};
  return near.question() + (meant->is_kernel
                                ? " It is a template: name an instance of it, as in \"" + near.name() + "<float>\""
                                : " It is not a kernel: write __global__ before it");
}

}  // namespace gpulua
