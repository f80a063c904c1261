#include "src/device/shared/code_declarations.h"

#include <algorithm>
#include <array>
#include <span>
#include <tuple>
#include <utility>

#include "src/base/cxx_tokens.h"
#include "src/base/text_list.h"
#include "src/device/shared/code_names.h"

namespace gpulua {
namespace {

using Words = std::vector<std::string_view>;
using Kind = CodeDeclaration::Kind;

Words words_of(std::string_view text) {
  Words words;
  CxxTokens tokens(text);
  for (CxxToken token = tokens.next(); token.kind != CxxToken::Kind::end; token = tokens.next())
    if (token.kind == CxxToken::Kind::word) words.push_back(token.text);
  return words;
}

bool is_access(std::string_view word) {
  return word == "public" || word == "private" || word == "protected";
}

bool begins_declaration(std::string_view word) {
  constexpr std::array<std::string_view, 15> words{"class",  "struct", "union",      "enum",       "template",
                                                   "using",  "static", "typedef",    "namespace",  "inline",
                                                   "extern", "const",  "__global__", "__device__", "__host__"};
  return is_one_of(word, words);
}

class Declarations {
 public:
  Declarations(std::string_view text, const CodeMacros& macros) : text_(text), macros_(macros) {}

  std::vector<CodeDeclaration> read() {
    CxxTokens tokens(text_);
    for (CxxToken token = tokens.next(); token.kind != CxxToken::Kind::end; token = tokens.next()) read(token);
    return std::move(found_);
  }

 private:
  std::size_t place(std::string_view part) const { return static_cast<std::size_t>(part.data() - text_.data()); }

  void read(const CxxToken& token) {
    if (token.kind == CxxToken::Kind::directive) return read_condition(CxxDirective(token));
    if (token.kind == CxxToken::Kind::word) {
      if (const int braces = macros_.open_braces(token.text); braces != 0) {
        if (depth_ == 0) return forget();  // opens or closes namespaces
        depth_ = std::max(depth_ + braces, 1);
      }
      if (depth_ == 0 && ends_with_macro_call() &&
          (begins_declaration(token.text) || calls_macro_again(token.text) || macros_.ends_declaration(head_[0])))
        end(place(token.text));
      add_start(token);
      current_.words.push_back(token.text);
    } else {
      add_start(token);
    }
    if (depth_ > 0) return read_in_body(token);
    const bool is_mark = token.kind == CxxToken::Kind::mark;
    if (is_mark && token.text == "(") ++parentheses_;
    if (is_mark && token.text == ")") --parentheses_;
    if (is_mark && parentheses_ <= 0) {
      if (token.text == "}") {
        if (ends_with_macro_call()) end(place(token.text));
        return forget();
      }
      if (token.text == ":" && head_.size() == 1 && is_access(head_[0])) return forget();
      if (token.text == "{") return open(token);
    }
    head_.push_back(token.text);
    if (is_mark && parentheses_ <= 0 && token.text == ";") end(place(token.text) + 1);
  }

  void read_in_body(const CxxToken& token) {
    if (token.kind != CxxToken::Kind::mark) return;
    if (token.text == "{") ++depth_;
    if (token.text != "}" || --depth_ > 0) return;
    head_.push_back(code_body);
    current_.body_end = place(token.text);
    if (!goes_on_) end(place(token.text) + 1);
  }

  /// Each branch of an #if goes on from what stands before it.
  void read_condition(const CxxDirective& directive) {
    if (directive.name.starts_with("if")) conditions_.emplace_back(depth_, parentheses_);
    if (conditions_.empty()) return;
    if (directive.name.starts_with("el")) std::tie(depth_, parentheses_) = conditions_.back();
    if (directive.name == "endif") conditions_.pop_back();
  }

  /// `DEFINE_X(a)`, also several, with nothing behind, where the next declaration begins.
  bool ends_with_macro_call() const {
    if (parentheses_ != 0 || head_.empty()) return false;
    for (std::size_t i = 0; i < head_.size();) {
      if (i + 2 >= head_.size() || head_[i + 1] != "(" || macros_.find(head_[i]) == nullptr) return false;
      int open = 0;
      for (++i; i < head_.size(); ++i) {
        if (head_[i] == "(") ++open;
        if (head_[i] == ")" && --open == 0) break;
      }
      ++i;  // behind the call
    }
    return true;
  }
  bool calls_macro_again(std::string_view word) const { return macros_.find(word) != nullptr && word == head_[0]; }

  void add_start(const CxxToken& token) {
    if (!head_.empty() || depth_ > 0) return;
    forget();
    current_.begin = place(token.text);
  }

  void open(const CxxToken& brace) {
    const bool is_linkage = head_.size() == 2 && head_[0] == "extern";
    if (is_one_of("namespace", head_) || is_linkage) return forget();
    is_type_ = opens_type();
    goes_on_ = is_type_ || has_value() || initialises_member();
    current_.body = place(brace.text) + 1;
    depth_ = 1;
  }

  /// The place behind a template's parameters.
  std::size_t after_template() const {
    std::size_t first = 0;
    int parentheses = 0;  // within, < and > compare
    for (int angles = 0; first < head_.size() && (head_[first] == "template" || head_[first] == "<" || angles > 0);
         ++first) {
      if (head_[first] == "(") ++parentheses;
      if (head_[first] == ")") --parentheses;
      if (parentheses > 0) continue;
      if (head_[first] == "<") ++angles;
      if (head_[first] == ">") --angles;
    }
    return first;
  }

  /// `Type() : member{1} {}` before the braces of the member.
  bool initialises_member() const {
    if (head_.empty() || (!is_code_name(head_.back()) && head_.back() != ">")) return false;
    for (std::size_t i = 1; i + 1 < head_.size(); ++i)
      if (head_[i - 1] == ")" && head_[i] == ":" && head_[i + 1] != ":") return true;
    return false;
  }

  bool has_value() const {
    if (is_one_of("operator", head_)) return false;
    int parentheses = 0;
    for (std::size_t i = after_template() + 1; i < head_.size(); ++i) {
      if (head_[i] == "(") ++parentheses;
      if (head_[i] == ")") --parentheses;
      const bool compares = head_[i - 1] == "!" || head_[i - 1] == "=" || (i + 1 < head_.size() && head_[i + 1] == "=");
      if (head_[i] == "=" && parentheses == 0 && !compares) return true;
    }
    return false;
  }

  /// A type's head ends in a name or a template's arguments, a function's in its parameters or what may follow them.
  bool opens_type() const {
    constexpr std::array<std::string_view, 4> kinds{"struct", "class", "union", "enum"};
    const std::span<const std::string_view> rest(head_.begin() + static_cast<std::ptrdiff_t>(after_template()),
                                                 head_.end());
    const auto kind = std::find_first_of(rest.begin(), rest.end(), kinds.begin(), kinds.end());
    if (kind == rest.end()) return false;
    const auto parameters = find_parameters(kind + 1, rest.end());
    // `struct ALIGNED(8) {`: a macro's attribute.
    return parameters == rest.end() || is_code_attribute(*(parameters - 1)) || parameters - kind == 2 ||
           is_one_of(":", std::span(kind, parameters));
  }

  /// The first parenthesis that is not within a template's arguments.
  template <class Token>
  static Token find_parameters(Token token, Token last) {
    for (int angles = 0, open = 0; token != last; ++token) {
      if (*token == "(" && angles == 0) return token;
      if (*token == "(") ++open;
      if (*token == ")") --open;
      if (open > 0 || *(token - 1) == "operator") continue;
      if (*token == "<") ++angles;
      if (*token == ">") --angles;
    }
    return last;
  }

  void end(std::size_t place) {
    if (!head_.empty()) {
      CodeNames head = names_of(head_);
      current_.end = place;
      current_.kind = head.kind;
      current_.names = std::move(head.names);
      // An enumeration names its enumerators.
      if (is_one_of("enum", head_) && is_type_) current_.names = current_.words;
      if (head.kind != Kind::type || is_one_of("enum", head_)) current_.body = current_.body_end = 0;
      current_.is_variable = head.is_variable;
      current_.assigns = head.assigns;
      current_.is_internal = head.is_template || is_one_of("static", head_) || is_one_of("inline", head_);
      found_.push_back(std::move(current_));
    }
    forget();
  }

  void forget() {
    current_ = {};
    head_.clear();
    parentheses_ = 0;
    depth_ = 0;
    goes_on_ = is_type_ = false;
  }

  std::string_view text_;
  const CodeMacros& macros_;
  std::vector<CodeDeclaration> found_;
  CodeDeclaration current_;
  Words head_;
  std::vector<std::pair<int, int>> conditions_;  // `depth_` and `parentheses_` before each #if that is open
  int depth_ = 0, parentheses_ = 0;
  bool is_type_ = false;
  bool goes_on_ = false;  // behind its body, to a semicolon
};

}  // namespace

const Words& CodeMacros::parameters(std::string_view name) const {
  return macros_.at(name).parameters;
}

void CodeMacros::read(std::string_view text) {
  CxxTokens tokens(text);
  for (CxxToken token = tokens.next(); token.kind != CxxToken::Kind::end; token = tokens.next()) {
    if (token.kind != CxxToken::Kind::directive) continue;
    const CxxDirective directive(token);
    if (directive.name != "define") continue;
    CxxTokens parts(directive.rest);
    const CxxToken name = parts.next();
    if (name.kind != CxxToken::Kind::word) continue;
    Macro& macro = macros_[name.text];
    macro.text = parts.rest();
    if (macro.text.starts_with('(')) {
      const std::size_t end = std::min(macro.text.find(')'), macro.text.size() - 1);
      macro.parameters = words_of(macro.text.substr(0, end));
      macro.text.remove_prefix(end + 1);
    }
    int braces = 0;
    std::string_view last;
    for (CxxToken part = parts.next(); part.kind != CxxToken::Kind::end; part = parts.next()) {
      if (part.kind == CxxToken::Kind::word) macro.words.push_back(part.text);
      if (part.text == "{") ++braces;
      if (part.text == "}") --braces;
      last = part.text;
    }
    if (braces != 0) macro.open_braces = braces;
    macro.ends_declaration |= last == ";" || last == "}";
  }
}

const std::vector<std::string_view>* CodeMacros::find(std::string_view name) const {
  const auto found = macros_.find(name);
  return found == macros_.end() ? nullptr : &found->second.words;
}

std::string_view CodeMacros::text(std::string_view name) const {
  const auto found = macros_.find(name);
  return found == macros_.end() ? "" : found->second.text;
}

int CodeMacros::open_braces(std::string_view name) const {
  const auto found = macros_.find(name);
  return found == macros_.end() ? 0 : found->second.open_braces;
}

bool CodeMacros::ends_declaration(std::string_view name) const {
  const auto found = macros_.find(name);
  return found != macros_.end() && found->second.ends_declaration;
}

bool CodeMacros::stands_for(std::string_view word, std::string_view mark) const {
  if (word == mark) return true;
  const Words* words = find(word);
  if (words == nullptr) return false;
  const auto [known, is_new] = marks_.emplace(std::pair(word, mark), false);  // false: for macros that mention it
  if (is_new && std::ranges::any_of(*words, [&](std::string_view each) { return stands_for(each, mark); }))
    marks_[{word, mark}] = true;
  return marks_[{word, mark}];
}

bool CodeMacros::stand_for(const Words& words, std::string_view mark) const {
  return std::ranges::any_of(words, [&](std::string_view word) { return stands_for(word, mark); });
}

std::vector<CodeDeclaration> declarations_of(std::string_view text, const CodeMacros& macros) {
  return Declarations(text, macros).read();
}

}  // namespace gpulua
