#include "src/device/shared/code_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <utility>

#include "src/base/characters.h"
#include "src/base/text_list.h"

namespace gpulua {
namespace {

using Words = std::vector<std::string_view>;
using Kind = CodeDeclaration::Kind;

constexpr std::array<std::string_view, 4> type_kinds{"struct", "class", "union", "enum"};

/// Reads what a declaration names out of its tokens, without those in bodies.
class CodeHead {
 public:
  explicit CodeHead(const Words& tokens) : tokens_(tokens) {
    skip_prefix();
    read();
  }

  CodeNames names() { return std::move(names_); }

 private:
  std::string_view at(std::size_t place) const { return place < tokens_.size() ? tokens_[place] : ""; }

  /// The place after the bracket that closes the one at `open`. Templates' arguments have other uses of < and > in
  /// parentheses alone.
  std::size_t after(std::size_t open) const {
    const std::string_view first = at(open), last = first == "<" ? ">" : first == "[" ? "]" : ")";
    int depth = 0;
    for (std::size_t i = open; i < tokens_.size(); ++i) {
      if (first == "<" && at(i) == "(") i = after(i) - 1;
      if (at(i) == first) ++depth;
      if (at(i) == last && --depth == 0) return i + 1;
    }
    return tokens_.size();
  }

  void skip_prefix() {
    while (at(first_) == "template") {
      names_.is_template = true;
      first_ = at(first_ + 1) == "<" ? after(first_ + 1) : first_ + 1;
    }
    while (at(first_) == "extern" || at(first_).starts_with('"')) ++first_;
  }

  void read() {
    const std::string_view word = at(first_);
    if (word == "using" && at(first_ + 1) == "namespace")
      names_.kind = Kind::directive;
    else if (word == "namespace")
      names_.names = {at(first_ + 1)};
    else if (word == "using")
      names_.names = {at(first_ + 2) == "=" ? at(first_ + 1) : last_name()};
    else if (word == "typedef")
      read_declarators(first_ + 1);
    else if (const std::size_t type = find_type(); type < tokens_.size())
      names_.kind = Kind::type, read_type(type);
    else if (word == "static_assert" || calls_macro())
      names_.kind = Kind::other;
    else if (read_function())
      names_.kind = Kind::function;
    else {
      names_.is_variable = true;
      read_declarators(first_);
    }
    if (names_.names.empty() && names_.kind == Kind::named) names_.kind = Kind::other;
  }

  /// `DEFINE_X(a) DEFINE_X(b)`, with nothing behind.
  bool calls_macro() const {
    if (!is_code_name(at(first_)) || at(first_ + 1) != "(") return false;
    const std::size_t next = after(first_ + 1);
    return next == tokens_.size() ||
           (is_code_name(at(next)) && at(next + 1) == "(" && after(next + 1) == tokens_.size());
  }

  std::string_view last_name() const {
    const auto found = std::find_if(tokens_.rbegin(), tokens_.rend(), is_code_name);
    return found == tokens_.rend() ? "" : *found;
  }

  /// The place of `struct` where a type is defined or declared, and not only named as that of a function or variable.
  std::size_t find_type() const {
    for (std::size_t i = first_; i < tokens_.size(); ++i) {
      if (at(i) == "<" || at(i) == "(") {
        i = after(i) - 1;
        continue;
      }
      if (at(i) == "=") break;
      if (!is_one_of(at(i), type_kinds)) continue;
      for (std::size_t j = i + 1; j < tokens_.size(); ++j) {
        if (at(j) == "(" && (is_code_attribute(at(j - 1)) || j == i + 2)) j = after(j) - 1;
        if (at(j) == "<") j = after(j) - 1;
        if (at(j) == "(" || at(j) == "=") break;
        if (at(j) == code_body || (at(j) == ";" && is_code_name(at(j - 1)) && j <= i + 2) ||
            (at(j) == ";" && at(j - 1) == ">"))
          return i;
      }
      break;
    }
    return tokens_.size();
  }

  void read_type(std::size_t type) {
    std::size_t i = type + 1;
    for (; i < tokens_.size() && at(i) != code_body && at(i) != ";"; ++i) {
      if (at(i) == "(" || at(i) == "[") {
        i = after(i) - 1;
        continue;
      }
      const bool is_base_mark = at(i) == ":" && at(i + 1) != ":" && at(i - 1) != ":";
      if (is_base_mark) break;
      if (at(i) == "<") {
        i = after(i) - 1;
        continue;
      }
      if (is_code_name(at(i)) && at(i) != "final" && at(i + 1) != "(") names_.names.push_back(at(i));
    }
    while (i < tokens_.size() && at(i) != code_body) ++i;
    if (i < tokens_.size()) read_declarators(i);
  }

  bool read_function() {
    for (std::size_t i = first_; i < tokens_.size(); ++i) {
      if (at(i) == "=" || at(i) == code_body) return false;
      if (at(i) == "operator") {
        names_.assigns = at(i + 1) == "=" && at(i + 2) == "(";
        return true;
      }
      if (at(i) == "<" || (at(i) == "[" && at(i + 1) == "[")) i = after(i) - 1;
      if (at(i) != "(") continue;
      if (i == first_) return false;
      if (is_code_attribute(at(i - 1))) {
        i = after(i) - 1;
        continue;
      }
      return read_qualified_name(i);
    }
    return false;
  }

  /// `ns::Type<T>::name` before the parameters: the parts of the name.
  bool read_qualified_name(std::size_t parameters) {
    std::size_t i = parameters;
    while (i > first_) {
      if (at(i - 1) == ">") {
        int depth = 0;
        while (i > first_) {
          --i;
          if (at(i) == ">") ++depth;
          if (at(i) == "<" && --depth == 0) break;
        }
      }
      if (i == first_ || !is_code_name(at(i - 1))) break;
      names_.names.push_back(at(--i));
      if (i < first_ + 2 || at(i - 1) != ":" || at(i - 2) != ":") break;
      i -= 2;
    }
    return !names_.names.empty();
  }

  /// The names before `=`, `[`, `,` and `;`, and those of pointers to functions.
  void read_declarators(std::size_t from) {
    int parentheses = 0;
    for (std::size_t i = from; i < tokens_.size(); ++i) {
      if (at(i) == "<") {
        i = after(i) - 1;
        continue;
      }
      if (at(i) == "(") ++parentheses;
      if (at(i) == ")") --parentheses;
      const std::string_view next = at(i + 1);
      const bool ends = next == ";" || next == "," || next == "=" || next == "[" || next == code_body || next.empty();
      const bool is_pointer = next == ")" && at(i - 1) == "*";
      if (!is_code_name(at(i)) || is_one_of(at(i), type_kinds)) continue;
      if ((parentheses == 0 && ends) || is_pointer) names_.names.push_back(at(i));
    }
  }

  CodeNames names_;
  const Words& tokens_;
  std::size_t first_ = 0;
};

}  // namespace

CodeNames names_of(const std::vector<std::string_view>& tokens) {
  return CodeHead(tokens).names();
}

bool is_code_name(std::string_view token) {
  return !token.empty() && is_identifier(token.front()) && std::isdigit(static_cast<unsigned char>(token.front())) == 0;
}

bool is_code_attribute(std::string_view word) {
  constexpr std::array<std::string_view, 8> attributes{"alignas",           "__align__",  "__attribute__",
                                                       "__launch_bounds__", "__declspec", "decltype",
                                                       "__cluster_dims__",  "noexcept"};
  return is_one_of(word, attributes);
}

}  // namespace gpulua
