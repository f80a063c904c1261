#include "src/device/shared/compound_literals.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "src/base/cxx_tokens.h"

namespace gpulua {
namespace {

using TokenList = std::vector<CxxToken>;

bool is_mark(const CxxToken& token, std::string_view marks) {
  return token.kind == CxxToken::Kind::mark && marks.find(token.text) != marks.npos;
}

/// Whether an operand follows the token before `at`: after others "(x) {" begins the block of an `if`, a function, a
/// lambda; as does that of an `operator+`.
bool precedes_operand(const TokenList& tokens, std::size_t at) {
  if (tokens[at - 1].text == "return") return true;
  if (!is_mark(tokens[at - 1], "=(,?:+-*/%&|^<!~[{;")) return false;
  while (at > 0 && is_mark(tokens[at - 1], "=,+-*/%&|^<>!~")) --at;
  return at == 0 || tokens[at - 1].text != "operator";
}

/// The brackets around types in `tokens`, as positions in the whole text.
class Brackets {
 public:
  explicit Brackets(std::string_view text) : text_(text) {
    TokenList tokens;
    CxxTokens scanned(text);
    for (CxxToken token = scanned.next(); token.kind != CxxToken::Kind::end; token = scanned.next())
      if (token.kind == CxxToken::Kind::directive)
        read_macro(token.text);
      else
        tokens.push_back(token);
    read(tokens, false);
  }

  struct Pair {
    std::size_t open, close;
  };
  std::vector<Pair> pairs;

 private:
  /// An operand may begin a macro's text.
  void read_macro(std::string_view directive) {
    TokenList tokens;
    CxxTokens scanned(directive.substr(directive.starts_with('#') ? 1 : 2));
    for (CxxToken token = scanned.next(); token.kind != CxxToken::Kind::end; token = scanned.next())
      tokens.push_back(token);
    if (tokens.size() < 3 || tokens[0].text != "define") return;
    std::size_t first = 2;
    if (is_mark(tokens[2], "(") && tokens[2].text.data() == tokens[1].text.data() + tokens[1].text.size())
      first = static_cast<std::size_t>(std::ranges::find_if(tokens, [](const CxxToken& t) { return is_mark(t, ")"); }) -
                                       tokens.begin()) +
              1;
    if (first < tokens.size()) read({tokens.begin() + static_cast<std::ptrdiff_t>(first), tokens.end()}, true);
  }

  void read(const TokenList& tokens, bool begins_operand) {
    for (std::size_t open = 0; open + 3 < tokens.size(); ++open) {
      if (!is_mark(tokens[open], "(")) continue;
      if (open == 0 ? !begins_operand : !precedes_operand(tokens, open)) continue;
      const std::size_t close = end_of_type(tokens, open + 1);
      if (close == open + 1 || close + 1 >= tokens.size()) continue;
      if (is_mark(tokens[close], ")") && is_mark(tokens[close + 1], "{"))
        pairs.push_back({at(tokens[open]), at(tokens[close])});
    }
  }

  /// The index after "const ns::Pair<int, 3> [4]".
  static std::size_t end_of_type(const TokenList& tokens, std::size_t first) {
    std::size_t at = first;
    while (at < tokens.size() && (tokens[at].kind == CxxToken::Kind::word ||
                                  tokens[at].kind == CxxToken::Kind::number || is_mark(tokens[at], ":<>,[]")))
      ++at;
    return at;
  }

  std::size_t at(const CxxToken& token) const { return static_cast<std::size_t>(token.text.data() - text_.data()); }

  std::string_view text_;
};

}  // namespace

std::string with_typed_braces(std::string_view text) {
  if (text.find('{') == text.npos) return std::string(text);
  std::vector<Brackets::Pair> pairs = Brackets(text).pairs;
  std::ranges::sort(pairs, {}, &Brackets::Pair::open);
  std::string result;
  std::size_t done = 0;
  for (const auto& [open, close] : pairs) {
    result.append(text.substr(done, open - done)).append("gpulua_typed<");
    result.append(text.substr(open + 1, close - open - 1)).append(">");
    done = close + 1;
  }
  return result.append(text.substr(done));
}

}  // namespace gpulua
