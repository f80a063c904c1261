#include "src/device/shared/source_functions.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "src/base/characters.h"
#include "src/base/cxx_tokens.h"
#include "src/base/near_name.h"

namespace gpulua {
namespace {

using Tokens = std::vector<std::string_view>;

bool is_name(std::string_view token) {
  return !token.empty() && is_identifier(token[0]) && std::isdigit(static_cast<unsigned char>(token[0])) == 0;
}

/// Words, numbers and single characters. A literal is its quotation mark.
Tokens tokens_of(std::string_view text) {
  Tokens tokens;
  CxxTokens scanned(text);
  for (CxxToken token = scanned.next(); token.kind != CxxToken::Kind::end; token = scanned.next())
    if (token.is_literal())
      tokens.push_back(token.text.substr(token.text.find_first_of("\"'"), 1));
    else if (token.kind != CxxToken::Kind::directive)
      tokens.push_back(token.text);
  return tokens;
}

/// The index after the bracket that closes the one at `open`.
std::size_t past_bracket(const Tokens& tokens, std::size_t open, std::string_view left, std::string_view right) {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    if (tokens[i] == left) ++depth;
    if (tokens[i] == right && --depth == 0) return i + 1;
  }
  return tokens.size();
}

bool is_attribute(std::string_view name) {
  return name == "__launch_bounds__" || name == "__attribute__" || name == "__align__" || name == "alignas" ||
         name == "decltype" || name == "__cluster_dims__" || name == "__maxnreg__" || name == "__block_size__";
}

/// The names in "const float* x, int n = 3, P (&rows)[4]".
std::vector<std::string> parameter_names(const Tokens& tokens) {
  std::vector<std::string> names;
  std::string name;
  int depth = 0, words = 0;
  bool is_open = true;  // the name may still come
  const auto end_parameter = [&] {
    names.push_back(words > 1 ? name : std::string());
    name.clear();
    words = 0;
    is_open = true;
  };
  for (const std::string_view token : tokens) {
    if (token == "<" || token == "(" || token == "{") ++depth;
    if (token == ">" || token == ")" || token == "}") --depth;
    if (depth == 0 && token == ",") {
      end_parameter();
    } else if (token == "=" || token == "[") {
      is_open = false;
    } else if (depth == 0 && is_open && is_name(token) && token != "const" && !token.starts_with("__restrict")) {
      name = token;
      ++words;
    }
  }
  if (!names.empty() || words > 1 || (words == 1 && name != "void")) end_parameter();
  return names;
}

/// The function that the tokens before a '{' declare, if it is one.
std::optional<SourceFunction> read_function(const Tokens& declaration) {
  SourceFunction function;
  std::size_t first = 0;
  if (!declaration.empty() && declaration[0] == "template") {
    function.is_template = true;
    first = past_bracket(declaration, 1, "<", ">");
  }
  for (std::size_t i = first; i < declaration.size(); ++i) {
    if (declaration[i] == "__global__") function.is_kernel = true;
    if (declaration[i] == "=") return std::nullopt;
    if (declaration[i] != "(" || i == 0) continue;
    const std::size_t end = past_bracket(declaration, i, "(", ")");
    if (is_attribute(declaration[i - 1])) {
      i = end - 1;
      continue;
    }
    if (!is_name(declaration[i - 1]) || i < first + 2) return std::nullopt;
    function.name = declaration[i - 1];
    function.parameters = parameter_names(Tokens(declaration.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                                 declaration.begin() + static_cast<std::ptrdiff_t>(end) - 1));
    return function;
  }
  return std::nullopt;
}

/// True for what encloses declarations: namespace a {, extern "C" {.
bool is_scope(const Tokens& declaration) {
  if (std::ranges::find(declaration, std::string_view("namespace")) != declaration.end()) return true;
  return declaration.size() == 2 && declaration[0] == "extern" && declaration[1] == "\"";
}

/// "ns::axpy<float>" -> "axpy".
std::string_view base_name(std::string_view name) {
  name = name.substr(0, name.find('<'));
  const std::size_t last = name.find_last_not_of(" \t");
  name = name.substr(0, last == name.npos ? 0 : last + 1);
  while (!name.empty() && !is_identifier(name[0])) name.remove_prefix(1);
  const std::size_t colons = name.rfind("::");
  return colons == name.npos ? name : name.substr(colons + 2);
}

/// The name of what "template <...> struct Name" begins; empty for anything else.
std::string_view type_name(const Tokens& declaration) {
  for (std::size_t i = 0; i + 1 < declaration.size(); ++i)
    if ((declaration[i] == "struct" || declaration[i] == "class" || declaration[i] == "union") &&
        (i == 0 || (declaration[i - 1] != "<" && declaration[i - 1] != ",")))
      return declaration[i + 1];
  return {};
}

/// A function or type with the text between its braces.
struct Definition {
  SourceFunction function;
  bool is_type = false;
  Tokens body;
};

/// What a text defines: functions and types, and its `extern __shared__` arrays outside of them.
struct Definitions {
  std::vector<Definition> list;
  std::vector<std::string_view> dynamic_arrays;

  explicit Definitions(std::string_view text) {
    const Tokens tokens = tokens_of(text);
    Tokens declaration;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i] == ";" || tokens[i] == "}") {
        if (declares_dynamic_array(declaration)) add_array(declaration);
        declaration.clear();
      } else if (tokens[i] == "{") {
        if (!is_scope(declaration)) {
          const std::size_t end = past_bracket(tokens, i, "{", "}");
          add(declaration,
              {tokens.begin() + static_cast<std::ptrdiff_t>(i), tokens.begin() + static_cast<std::ptrdiff_t>(end)});
          i = end - 1;
        }
        declaration.clear();
      } else {
        declaration.push_back(tokens[i]);
      }
    }
    mark_dynamic();
  }

 private:
  /// True for tokens with "extern __shared__", in either order and with attributes between them, of an array without a
  /// size. With a size it is a definition.
  static bool declares_dynamic_array(const Tokens& tokens) {
    for (auto at = std::ranges::find(tokens, "__shared__"); at != tokens.end();
         at = std::find(at + 1, tokens.end(), "__shared__"))
      for (auto near = at - std::min<std::ptrdiff_t>(at - tokens.begin(), 6); near != tokens.end() && near < at + 3;
           ++near)
        if (*near == "extern" && has_open_array(at, std::find(at, tokens.end(), ";"))) return true;
    return false;
  }

  static bool has_open_array(Tokens::const_iterator first, Tokens::const_iterator last) {
    constexpr std::string_view open[] = {"[", "]"};
    return std::search(first, last, std::begin(open), std::end(open)) != last;
  }

  void add_array(const Tokens& declaration) {
    const auto bracket = std::ranges::find(declaration, "[");
    if (bracket != declaration.begin() && bracket != declaration.end()) dynamic_arrays.push_back(*(bracket - 1));
  }

  void add(const Tokens& declaration, Tokens body) {
    if (auto function = read_function(declaration)) {
      list.push_back({std::move(*function), false, std::move(body)});
    } else if (const std::string_view name = type_name(declaration); !name.empty()) {
      SourceFunction type;
      type.name = name;
      list.push_back({std::move(type), true, std::move(body)});
    }
  }

  /// True when the definition names the other one, and a function as one that it calls.
  static bool names(const Definition& definition, const Definition& other) {
    const Tokens& body = definition.body;
    for (std::size_t i = 1; i + 1 < body.size(); ++i)
      if (body[i] == other.function.name && (other.is_type || body[i + 1] == "(" || body[i + 1] == "<") &&
          body[i - 1] != ".")
        return true;
    return false;
  }

  void mark_dynamic() {
    for (Definition& definition : list)
      definition.function.dynamic_shared =
          declares_dynamic_array(definition.body) || std::ranges::any_of(dynamic_arrays, [&](std::string_view array) {
            return std::ranges::find(definition.body, array) != definition.body.end();
          });
    for (bool changed = true; changed;) {
      changed = false;
      for (Definition& definition : list)
        if (!definition.function.dynamic_shared && std::ranges::any_of(list, [&](const Definition& other) {
              return other.function.dynamic_shared && names(definition, other);
            }))
          changed = definition.function.dynamic_shared = true;
    }
  }
};

}  // namespace

std::vector<SourceFunction> source_functions(std::string_view text) {
  std::vector<SourceFunction> functions;
  for (Definition& definition : Definitions(text).list)
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
  for (const Definition& definition : Definitions(text).list) {
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

namespace {

/// What the type of a member begins with.
bool is_plain_type(std::string_view word) {
  constexpr std::string_view words[] = {"const",   "unsigned", "signed",   "char",     "short",   "int",     "long",
                                        "float",   "double",   "bool",     "size_t",   "int8_t",  "int16_t", "int32_t",
                                        "int64_t", "uint8_t",  "uint16_t", "uint32_t", "uint64_t"};
  return std::ranges::find(words, word) != std::end(words);
}

/// "float low, high;" of the tokens between braces; empty where one is more than the declaration of plain members.
std::string members_text(const Tokens& body) {
  std::string members;
  bool first = true;  // of a declaration
  for (std::size_t i = 1; i + 1 < body.size(); ++i) {
    const std::string_view token = body[i];
    const bool is_mark = token == "," || token == ";" || token == "[" || token == "]" || token == "*";
    if (first ? !is_plain_type(token) : !is_mark && !is_identifier(token[0])) return {};
    const bool after_bracket = !members.empty() && members.back() == '[';
    if (!members.empty() && !after_bracket && is_identifier(token[0])) members += ' ';
    members += token;
    first = token == ";";
  }
  return first ? members : std::string();
}

}  // namespace

std::string struct_members(std::string_view text, std::string_view name) {
  std::string found;
  for (const Definition& definition : Definitions(text).list) {
    if (!definition.is_type || definition.function.name != base_name(name)) continue;
    if (!found.empty()) return {};
    found = members_text(definition.body);
  }
  return found;
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
