// The layout of structs that CUDA C++ text defines.

#include <algorithm>
#include <string>
#include <utility>

#include "src/base/characters.h"
#include "src/base/text_list.h"
#include "src/device/shared/source_definitions.h"

namespace gpulua {

namespace {

/// What the type of a member begins with.
bool is_plain_type(std::string_view word) {
  constexpr std::string_view words[] = {"const",   "unsigned", "signed",   "char",     "short",   "int",     "long",
                                        "float",   "double",   "bool",     "size_t",   "int8_t",  "int16_t", "int32_t",
                                        "int64_t", "uint8_t",  "uint16_t", "uint32_t", "uint64_t"};
  return is_one_of(word, words);
}

/// The names of C for the elements of CUDA's vectors: "float3" begins with one of them.
constexpr std::pair<std::string_view, std::string_view> vector_elements[] = {
    {"char", "signed char"},
    {"uchar", "unsigned char"},
    {"short", "short"},
    {"ushort", "unsigned short"},
    {"int", "int"},
    {"uint", "unsigned int"},
    {"long", "long"},
    {"ulong", "unsigned long"},
    {"longlong", "long long"},
    {"float", "float"},
    {"double", "double"},
    {"ulonglong", "unsigned long long"},
};

/// "struct { float x, y, z; }" for "float3"; empty for another name. Two and four lanes have the alignment of the
/// whole, of 16 bytes at most.
std::string vector_text(std::string_view name) {
  const char* const lanes[] = {"x", "x, y", "x, y, z", "x, y, z, w"};
  const int count = name.back() - '0';
  if (count < 1 || count > 4) return {};
  name.remove_suffix(1);
  for (const auto& [element, text] : vector_elements) {
    if (element != name) continue;
    std::string type = "struct ";
    if (count % 2 == 0) {
      const int size = text.ends_with("char")                               ? 1
                       : text.ends_with("short")                            ? 2
                       : text.ends_with("long") || text.ends_with("double") ? 8
                                                                            : 4;
      type += "__attribute__((aligned(" + std::to_string(std::min(16, count * size)) + "))) ";
    }
    return type + "{ " + std::string(text) + " " + lanes[count - 1] + "; }";
  }
  return {};
}

/// Writes the members of structs in C.
class Members {
 public:
  explicit Members(const std::vector<Definition>& list) : list_(list) {}

  /// Empty where there is no such struct, or several, and where one has more than declarations of plain members.
  std::string of(std::string_view name, int depth = 0) const {
    constexpr int most_depth = 8;
    const Definition* found = nullptr;
    for (const Definition& definition : list_) {
      if (!definition.is_type || definition.function.name != base_name(name)) continue;
      if (found != nullptr) return {};
      found = &definition;
    }
    return found != nullptr && found->is_whole && depth < most_depth ? text_of(found->body, depth) : std::string();
  }

 private:
  std::string text_of(const Tokens& body, int depth) const {
    std::string members;
    bool first = true;  // of a declaration
    for (std::size_t i = 1; i + 1 < body.size(); ++i) {
      const std::string_view token = body[i];
      const bool is_mark = token == "," || token == ";" || token == "[" || token == "]" || token == "*";
      const std::string type = first ? type_text(token, body[i + 1], depth) : std::string();
      if (first ? type.empty() : !is_mark && !is_identifier(token[0])) return {};
      const bool after_bracket = !members.empty() && members.back() == '[';
      if (!members.empty() && !after_bracket && (first || is_identifier(token[0]))) members += ' ';
      members += first ? type : token;
      first = token == ";";
    }
    return first ? members : std::string();
  }

  /// What the first word of a member's declaration is in C.
  std::string type_text(std::string_view word, std::string_view next, int depth) const {
    if (is_plain_type(word)) return std::string(word);
    if (!is_name(word)) return {};
    if (next == "*") return "void";
    const std::string vector = vector_text(word);
    if (!vector.empty()) return vector;
    const std::string members = of(word, depth + 1);
    return members.empty() ? members : "struct { " + members + " }";
  }

  const std::vector<Definition>& list_;
};

}  // namespace

std::string struct_members(std::string_view text, std::string_view name) {
  // Which of several versions of the text counts is not known here, nor what packs it.
  if (text.find("#if") != text.npos || text.find("pragma pack") != text.npos) return {};
  const std::vector<Definition> definitions = source_definitions(text);
  return Members(definitions).of(name);
}

}  // namespace gpulua
