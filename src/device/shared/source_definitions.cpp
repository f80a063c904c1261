#include "src/device/shared/source_definitions.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "src/base/characters.h"
#include "src/base/cxx_tokens.h"

namespace gpulua {

bool is_name(std::string_view token) {
  return !token.empty() && is_identifier(token[0]) && std::isdigit(static_cast<unsigned char>(token[0])) == 0;
}

std::size_t past_bracket(const Tokens& tokens, std::size_t open, std::string_view left, std::string_view right) {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    if (tokens[i] == left) ++depth;
    if (tokens[i] == right && --depth == 0) return i + 1;
  }
  return tokens.size();
}

std::string_view base_name(std::string_view name) {
  name = name.substr(0, name.find('<'));
  const std::size_t last = name.find_last_not_of(" \t");
  name = name.substr(0, last == name.npos ? 0 : last + 1);
  while (!name.empty() && !is_identifier(name[0])) name.remove_prefix(1);
  const std::size_t colons = name.rfind("::");
  return colons == name.npos ? name : name.substr(colons + 2);
}

namespace {

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

/// The name of what "template <...> struct Name" begins; empty for anything else.
std::string_view type_name(const Tokens& declaration) {
  for (std::size_t i = 0; i + 1 < declaration.size(); ++i)
    if ((declaration[i] == "struct" || declaration[i] == "class" || declaration[i] == "union") &&
        (i == 0 || (declaration[i - 1] != "<" && declaration[i - 1] != ",")))
      return declaration[i + 1];
  return {};
}

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
          const auto begin = tokens.begin() + static_cast<std::ptrdiff_t>(i);
          const std::size_t end = past_bracket(tokens, i, "{", "}");
          const auto after = tokens.begin() + static_cast<std::ptrdiff_t>(end);
          if (!add_struct(declaration, {begin, after}, {after, std::find(after, tokens.end(), ";")}))
            add(declaration, {begin, after});
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

  /// Adds `struct Name {};` and `typedef struct {} Name;`, where `rest` is what follows the braces.
  bool add_struct(const Tokens& declaration, Tokens body, const Tokens& rest) {
    const bool is_named = rest.size() == 1 && declaration.size() >= 2 && declaration[0] == "typedef";
    const std::size_t at = is_named ? 1 : 0;
    if (at >= declaration.size() || declaration[at] != "struct" || declaration.size() > at + 2) return false;
    if (!is_named && (declaration.size() != 2 || !rest.empty())) return false;
    SourceFunction type;
    type.name = is_named ? rest[0] : declaration[1];
    list.push_back({std::move(type), true, std::move(body), true});
    return true;
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

std::vector<Definition> source_definitions(std::string_view text) {
  return std::move(Definitions(text).list);
}

}  // namespace gpulua
