#include "src/device/shared/failing_code.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/base/cxx_tokens.h"
#include "src/base/text_list.h"
#include "src/device/shared/code_declarations.h"

namespace gpulua {
namespace {

using Kind = CodeDeclaration::Kind;
using Words = std::vector<std::string_view>;

struct ErrorPlace {
  std::string_view file;
  int line = 0;
};

/// The places of the errors; nothing where one has none, or says that an assertion fails.
std::optional<std::vector<ErrorPlace>> places_of(std::string_view messages) {
  std::vector<ErrorPlace> places;
  while (!messages.empty()) {
    const std::size_t end = std::min(messages.find('\n'), messages.size());
    const std::string_view line = messages.substr(0, end);
    messages.remove_prefix(std::min(end + 1, messages.size()));
    if (line.find("fatal error: ") != line.npos || line.find("catastrophic error: ") != line.npos) return std::nullopt;
    const std::size_t at = line.find(": error: ");
    if (at == line.npos) continue;
    const std::size_t colon = line.rfind(':', at - 1);
    if (colon == line.npos || line.find("static assertion failed") != line.npos) return std::nullopt;
    ErrorPlace place{line.substr(0, colon)};
    const std::string_view number = line.substr(colon + 1, at - colon - 1);
    if (std::from_chars(number.data(), number.data() + number.size(), place.line).ec != std::errc())
      return std::nullopt;
    places.push_back(place);
  }
  return places;
}

/// Where the line begins and ends in the text, of which the first line has the number `first`. An #line counts.
std::optional<std::pair<std::size_t, std::size_t>> find_line(std::string_view text, int first, int wanted) {
  int number = first;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (number == wanted) return std::pair(begin, end);
    ++number;
    CxxTokens tokens(text.substr(begin, end - begin));
    if (const CxxToken token = tokens.next(); token.kind == CxxToken::Kind::directive)
      if (const CxxDirective directive(token); directive.name == "line")
        std::from_chars(directive.rest.data(), directive.rest.data() + directive.rest.size(), number);
    begin = end + 1;
  }
  return std::nullopt;
}

/// A text, and what becomes of it.
class FailingText {
 public:
  FailingText(std::string_view text, CodeMacros& macros) : text_(text), macros_(macros), result_(text) {}

  /// False where the line has other code than what may go.
  bool drop_line(std::size_t begin, std::size_t end) {
    CxxTokens tokens(text_.substr(begin, end - begin));
    if (tokens.next().kind == CxxToken::Kind::directive) return false;  // an #error
    return drop_in(0, text_.size(), begin, end, nullptr) == Found::dropped;
  }

  bool changed() const { return result_ != text_; }
  std::string take() { return std::move(result_); }

 private:
  enum class Found { nothing, kept, dropped };

  /// Of the declarations between two places, members of `owner` or of a namespace, those with a part of the line.
  Found drop_in(std::size_t first, std::size_t last, std::size_t begin, std::size_t end, const CodeDeclaration* owner) {
    Found found = Found::nothing;
    for (CodeDeclaration& each : declarations_of(text_.substr(first, last - first), macros_)) {
      for (std::size_t* place : {&each.begin, &each.end}) *place += first;
      if (each.body_end > 0)
        for (std::size_t* place : {&each.body, &each.body_end}) *place += first;
      if (each.end <= begin || each.begin >= end) continue;
      Found inner = Found::nothing;
      if (each.kind == Kind::type && each.body < end && begin < each.body_end)
        inner = drop_in(each.body, each.body_end, begin, end, &each);
      if (inner != Found::dropped) inner = drop(each, owner) ? Found::dropped : Found::kept;
      if (inner == Found::kept) return inner;
      found = inner;
    }
    return found;
  }

  bool drop(const CodeDeclaration& it, const CodeDeclaration* owner) {
    if (const auto known = dropped_.find({it.begin, it.end}); known != dropped_.end()) return true;
    for (const std::string_view mark : {"__global__", "__device__", "__constant__", "__managed__", "constexpr"})
      if (it.kind == Kind::function && macros_.stand_for(it.words, mark)) return false;
    const bool done = it.kind == Kind::type       ? drop_definition(it)
                      : it.kind == Kind::function ? drop_function(it, owner)
                      : it.kind == Kind::named    ? drop_name(it, owner)
                                                  : false;
    if (done) dropped_.emplace(it.begin, it.end);
    return done;
  }

  /// Copies and destruction would be the compiler's own without the member.
  bool drop_function(const CodeDeclaration& it, const CodeDeclaration* owner) {
    const bool is_special =
        owner != nullptr && !is_one_of("friend", it.words) &&
        (it.assigns || std::ranges::any_of(it.names, [&](auto name) { return is_one_of(name, owner->names); }));
    if (!is_special) blank(it.begin, it.end);
    return !is_special;
  }

  /// `class X : public Y { ... };` becomes `class X;`; what has no definition goes.
  bool drop_definition(const CodeDeclaration& it) {
    if (it.body == it.body_end) {
      const bool is_enumeration = is_one_of("enum", it.words);
      if (!is_enumeration) blank(it.begin, it.end);
      return !is_enumeration;
    }
    if (it.names.empty()) return false;
    std::size_t head = it.body - 1;
    int angles = 0, parentheses = 0;
    std::string_view before;
    CxxTokens tokens(text_.substr(it.begin, head - it.begin));
    for (CxxToken token = tokens.next(); token.kind != CxxToken::Kind::end; token = tokens.next()) {
      if (token.text == "<") ++angles;
      if (token.text == ">") --angles;
      if (token.text == "(") ++parentheses;
      if (token.text == ")") --parentheses;
      const auto place = static_cast<std::size_t>(token.text.data() - text_.data());
      const bool is_scope = before == ":" || text_[place + 1] == ':';
      before = token.text;
      if (token.text != ":" || is_scope || angles > 0 || parentheses > 0) continue;
      head = place;
      break;
    }
    blank(head, it.body_end + 1);
    return true;
  }

  /// Aliases, and variables that are not in each object of their type.
  bool drop_name(const CodeDeclaration& it, const CodeDeclaration* owner) {
    const bool is_alias = is_one_of("using", it.words) || is_one_of("typedef", it.words);
    for (const std::string_view mark : {"__device__", "__constant__", "__managed__", "__shared__"})
      if (!is_alias && macros_.stand_for(it.words, mark)) return false;
    if (!is_alias && owner != nullptr && !is_one_of("static", it.words)) return false;
    if (it.names.size() != 1) return false;
    const bool is_template = it.words.front() == "template";
    // Where the template's parameters end.
    std::size_t head = it.begin;
    if (is_template) {
      int angles = 0;
      CxxTokens tokens(text_.substr(it.begin, it.end - it.begin));
      for (CxxToken token = tokens.next(); token.kind != CxxToken::Kind::end; token = tokens.next()) {
        if (token.text == "<") ++angles;
        if (token.text != ">" || --angles > 0) continue;
        head = static_cast<std::size_t>(token.text.data() - text_.data()) + 1;
        break;
      }
      if (head == it.begin) return false;
    }
    const std::string type = " class " + std::string(it.names.front()) + ";";
    if (it.end - head < type.size()) return false;
    blank(head, it.end);
    // On one line, where the declaration has one that is long enough.
    for (std::size_t at = head; at + type.size() <= it.end; ++at)
      if (result_.find('\n', at) >= at + type.size()) {
        result_.replace(at, type.size(), type);
        return true;
      }
    return false;
  }

  void blank(std::size_t begin, std::size_t end) { blank_code(result_, text_, begin, end); }

  std::string_view text_;
  CodeMacros& macros_;
  std::string result_;
  std::set<std::pair<std::size_t, std::size_t>> dropped_;
};

/// Whether a compiler's name of a file is that of the header.
bool names_header(std::string_view file, std::string_view header) {
  if (!file.ends_with(header)) return false;
  file.remove_suffix(header.size());
  return file.empty() || file.ends_with('/');
}

/// The header's place; that of the text itself is behind them.
std::optional<std::size_t> text_of(const KernelSource& source, std::string_view file) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < source.headers.size(); ++i) {
    const std::string& name = source.headers[i].first;
    if (names_header(file, name) && (!found || name.size() > source.headers[*found].first.size())) found = i;
  }
  if (!found && file == (source.file.empty() ? "source" : source.file)) found = source.headers.size();
  return found;
}

}  // namespace

bool drop_failing_code(KernelSource& source, std::string_view messages) {
  const auto places = places_of(messages);
  if (!places || places->empty()) return false;
  CodeMacros macros;
  macros.read(source.text);
  for (const auto& [name, text] : source.headers) macros.read(text);
  std::vector<FailingText> texts;
  for (const auto& [name, text] : source.headers) texts.emplace_back(text, macros);
  texts.emplace_back(source.text, macros);
  for (const ErrorPlace& place : *places) {
    const auto index = text_of(source, place.file);
    if (!index) return false;
    const bool is_header = *index < source.headers.size();
    const std::string& text = is_header ? source.headers[*index].second : source.text;
    const auto line = find_line(text, is_header ? 1 : source.line, place.line);
    if (!line || !texts[*index].drop_line(line->first, line->second)) return false;
  }
  if (std::ranges::none_of(texts, &FailingText::changed)) return false;
  std::vector<std::string> results;
  for (FailingText& text : texts) results.push_back(text.take());
  source.text = std::move(results.back());
  for (std::size_t i = 0; i < source.headers.size(); ++i) source.headers[i].second = std::move(results[i]);
  return true;
}

}  // namespace gpulua
