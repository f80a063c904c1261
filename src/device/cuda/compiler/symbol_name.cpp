#include "src/device/cuda/compiler/symbol_name.h"

#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>

namespace gpulua::cuda {
namespace {

std::string demangle(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return symbol;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 ? text.get() : symbol;
}

bool is_identifier_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Removes every qualifier `<prefix>...::`.
void remove_qualifiers(std::string& name, std::string_view prefix) {
  for (std::size_t at = name.find(prefix); at != std::string::npos; at = name.find(prefix, at)) {
    std::size_t end = at + prefix.size();
    while (end < name.size() && is_identifier_character(name[end])) ++end;
    const bool qualifier = name.compare(end, 2, "::") == 0;
    if (qualifier && (at == 0 || !is_identifier_character(name[at - 1])))
      name.erase(at, end + 2 - at);
    else
      at = end;
  }
}

/// Where the parenthesis that closes `text` was opened.
std::size_t opening_parenthesis(const std::string& text) {
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    if (text[i] == ')') ++depth;
    if (text[i] == '(' && --depth == 0) return i;
  }
  return std::string::npos;
}

/// A template's symbol starts with its return type: the length of that and of the blank after it.
std::size_t return_type_length(std::string_view text) {
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    if (text[i] == '>' || text[i] == ')') ++depth;
    if (text[i] == '<' || text[i] == '(') --depth;
    if (text[i] == ' ' && depth == 0) return i + 1;
  }
  return 0;
}

}  // namespace

SymbolName read_symbol(const std::string& symbol) {
  SymbolName result;
  std::string text = demangle(symbol);
  remove_qualifiers(text, "_INTERNAL_");
  remove_qualifiers(text, "_GLOBAL__N_");
  constexpr std::string_view anonymous = "(anonymous namespace)::";
  for (std::size_t at = text.find(anonymous); at != std::string::npos; at = text.find(anonymous))
    text.erase(at, anonymous.size());
  if (text.ends_with(')')) {
    if (const std::size_t open = opening_parenthesis(text); open != std::string::npos) {
      result.parameters = text.substr(open + 1, text.size() - open - 2);
      text.erase(open);
      text.erase(0, return_type_length(text));
    }
  }
  result.name = std::move(text);
  return result;
}

bool is_qualified_identifier(std::string_view name) {
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         std::ranges::all_of(name, [](char c) { return is_identifier_character(c) || c == ':'; });
}

std::string template_argument(const std::string& symbol) {
  const std::string text = demangle(symbol);
  const std::size_t open = text.find('<');
  const std::size_t close = text.rfind('>');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  return text.substr(open + 1, close - open - 1);
}

}  // namespace gpulua::cuda
