#include "src/device/shared/implicit_names.h"

#include <set>
#include <vector>

#include "src/base/characters.h"
#include "src/base/cxx_tokens.h"
#include "src/device/shared/standard_headers.h"

namespace gpulua {
namespace {

/// The words and marks of a C++ text, without the lines of the preprocessor.
std::vector<std::string_view> words_and_marks(std::string_view text) {
  std::vector<std::string_view> tokens;
  CxxTokens scanned(text);
  for (CxxToken token = scanned.next(); token.kind != CxxToken::Kind::end; token = scanned.next())
    if (!token.is_literal() && token.kind != CxxToken::Kind::directive) tokens.push_back(token.text);
  return tokens;
}

/// The names that our headers bring: types, and macros that stand for values.
struct Names {
  std::set<std::string_view> types, macros;

  Names() {
    for (const StandardHeader& header : standard_headers()) {
      if (!header.name.starts_with("gpulua/") || !header.name.ends_with(".h")) continue;
      add_macros(header.text);
      if (header.name != "gpulua/stdint.h" && header.name != "gpulua/names.h") continue;
      bool is_typedef = false;
      const auto tokens = words_and_marks(header.text);
      for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
        if (tokens[i] == "typedef") is_typedef = true;
        if (is_typedef && (tokens[i + 1] == ";" || tokens[i + 1] == ",")) types.insert(tokens[i]);
        if (tokens[i] == ";") is_typedef = false;
      }
    }
  }
  void add_macros(std::string_view text) {
    constexpr std::string_view define = "#define ";
    for (std::size_t at = text.find(define); at != text.npos; at = text.find(define, at)) {
      at += define.size();
      std::size_t end = at;
      while (is_word(text[end])) ++end;
      if (text[end] == ' ') macros.insert(text.substr(at, end - at));
    }
  }
};

/// What a source says itself of the names that we would bring.
class Declared {
 public:
  void read(std::string_view text) {
    static const Names names;
    const auto tokens = words_and_marks(text);
    bool is_typedef = false;
    int depth = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const auto at = [&](std::size_t place) { return place < tokens.size() ? tokens[place] : ""; };
      const std::string_view token = tokens[i], next = at(i + 1), before = i > 0 ? tokens[i - 1] : "";
      if (token == "typedef") is_typedef = true, depth = 0;
      if (token == "{" || token == "<" || token == "(") ++depth;
      if (token == "}" || token == ">" || token == ")") --depth;
      if (token == ";" && depth <= 0) is_typedef = false;
      if (token == "std") {
        uses_std = true;
        defines_std |= before == "namespace" && next == "{";
      }
      const bool makes_type = (is_typedef && depth == 0 && (next == ";" || next == ",")) ||
                              (before == "using" && next == "=") || before == "struct" || before == "class";
      if (makes_type && names.types.contains(token)) types.insert(token);
      if (next == "=" && at(i + 2) != "=" && names.macros.contains(token)) macros.insert(token);
    }
  }

  std::set<std::string_view> types, macros;
  bool uses_std = false, defines_std = false;
};

}  // namespace

ImplicitText implicit_text(const KernelSource& source) {
  Declared declared;
  declared.read(source.text);
  for (const auto& [name, text] : source.headers) declared.read(text);
  const auto lines = [](std::string_view before, const std::set<std::string_view>& words, std::string_view after) {
    std::string result;
    for (std::string_view word : words) result += std::string(before) + std::string(word) + std::string(after) + "\n";
    return result;
  };
  // A type of the source's own takes the name: ours has another one meanwhile.
  std::string text;
  for (std::string_view type : declared.types)
    text += "#define " + std::string(type) + " gpulua_" + std::string(type) + "\n";
  text += "#include <gpulua/names.h>\n" + lines("#undef ", declared.types, "") + lines("#undef ", declared.macros, "");
  // Files on disk may use it, too.
  if ((declared.uses_std || !source.include_dirs.empty()) && !declared.defines_std) text += "#include <gpulua/std.h>\n";
  return {text, declared.defines_std || !declared.types.empty() || !declared.macros.empty()};
}

}  // namespace gpulua
