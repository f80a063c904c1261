#include "src/device/shared/implicit_names.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "src/base/characters.h"
#include "src/base/cxx_tokens.h"
#include "src/device/shared/host_code.h"
#include "src/device/shared/included_headers.h"
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
      if (token == "std" && before == "namespace" && next == "{") defines_std = true;
      const bool makes_type = (is_typedef && depth == 0 && (next == ";" || next == "," || next == "[")) ||
                              (before == "using" && next == "=") || before == "struct" || before == "class" ||
                              before == "union" || before == "enum";
      if (makes_type && names.types.contains(token)) types.insert(std::string(token)), places.push_back(token);
      if (next == "=" && at(i + 2) != "=" && names.macros.contains(token)) places.push_back(token);
    }
  }

  std::set<std::string> types;
  std::vector<std::string_view> places;  // of the declared names in the text that was read last, in its order
  bool defines_std = false;
};

/// The line after a directive, where that tells: `#line 12 "file"`, or `# 12 "file"` as preprocessors write it.
std::optional<int> told_line(const CxxToken& token) {
  const CxxDirective directive(token);
  const std::string_view number = directive.name == "line" ? directive.rest : directive.name;
  int line = 0;
  const auto parsed = std::from_chars(number.data(), number.data() + number.size(), line);
  return parsed.ec == std::errc() ? std::optional(line) : std::nullopt;
}

/// The text with an #undef before each place, where the meaning of a name ends. The preprocessor leaves it out with the
/// declaration. Lines keep their numbers.
std::string with_undefs(std::string_view text, int line, const std::vector<std::string_view>& places) {
  std::string result;
  std::size_t done = 0;
  const auto copy_to = [&](std::size_t end) {
    line += static_cast<int>(std::ranges::count(text.substr(done, end - done), '\n'));
    result += text.substr(done, end - done);
    done = end;
  };
  auto place = places.begin();
  CxxTokens tokens(text);
  for (CxxToken token = tokens.next(); token.kind != CxxToken::Kind::end; token = tokens.next()) {
    const auto first = static_cast<std::size_t>(token.text.data() - text.data());
    if (token.kind == CxxToken::Kind::directive) {
      copy_to(first + token.text.size());
      if (const auto told = told_line(token)) line = *told - 1;
    } else if (place != places.end() && token.text.data() == place->data()) {
      copy_to(first);
      result += "\n#undef " + std::string(*place++) + "\n#line " + std::to_string(line) + "\n";
    }
  }
  copy_to(text.size());
  return result;
}

/// Macros have words in directives and options.
bool uses_std(const KernelSource& source) {
  const auto in = [](const auto& part) { return part.second.find("std") != std::string::npos; };
  return source.text.find("std") != std::string::npos || std::ranges::any_of(source.headers, in) ||
         std::ranges::any_of(source.defines, in) || std::ranges::any_of(source.options, [](const std::string& option) {
           return option.find("std::") != std::string::npos;
         });
}

constexpr const char* all_names = "#include <gpulua/names.h>\n";

/// Files on disk may use it, too.
std::string std_names(const KernelSource& source) {
  return uses_std(source) || !source.include_dirs.empty() ? "#include <gpulua/std.h>\n" : "";
}

}  // namespace

bool has_kernel_text(const KernelSource& source) {
  const auto in = [](const std::string& text) { return text.find("__global__") != text.npos; };
  return in(source.text) || std::ranges::any_of(source.headers, [&](const auto& header) { return in(header.second); });
}

NamedSource with_all_names(const KernelSource& source) {
  return {all_names + std_names(source), source};
}

OtherWays other_ways(const KernelSource& source) {
  OtherWays others;
  std::vector<NamedSource>& ways = others.ways;
  Declared declared;
  KernelSource own = source;
  const auto end_names = [&](std::string& text, int line) {
    declared.places.clear();
    declared.read(text);
    if (!declared.places.empty()) text = with_undefs(text, line, declared.places);
    return !declared.places.empty();
  };
  bool changed = end_names(own.text, source.line);
  for (auto& [name, text] : own.headers) changed |= end_names(text, 1);
  // Ours has another name, and its usual name is a macro, which can end.
  std::string macros;
  for (const std::string& type : declared.types) macros += "#define " + type + " gpulua_" + type + "\n";
  const std::string all = macros + all_names + std_names(source);
  if (changed) ways.push_back({all, own});
  if (declared.defines_std) ways.push_back({macros + all_names, own});

  KernelSource kernels = own;
  read_included_headers(kernels);
  if (!has_kernel_text(kernels)) return others;
  bool has_host_code = false;
  const auto drop_host_code = [&](std::string& text) {
    std::string rest = without_host_code(text);
    has_host_code |= rest != text;
    text = std::move(rest);
  };
  drop_host_code(kernels.text);
  for (auto& [name, text] : kernels.headers) drop_host_code(text);
  const std::string lines = all + "__host__ __device__ void gpulua_host();\n";
  if (has_host_code) ways.push_back({lines, kernels});
  others.last.emplace(lines, std::move(kernels));
  return others;
}

}  // namespace gpulua
