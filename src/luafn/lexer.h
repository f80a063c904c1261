#pragma once

#include <string>
#include <string_view>

namespace gpulua::luafn {

struct Token {
  enum class Kind { end, name, keyword, symbol, string, number, wide_number };
  Kind kind = Kind::end;
  int line = 1;
  std::string text{};  // of a string: its content
  double number = 0;

  bool is(std::string_view word) const { return (kind == Kind::keyword || kind == Kind::symbol) && text == word; }
};

/// The tokens of a Lua chunk. The text is a chunk that LuaJIT has accepted; text that is no Lua throws Error.
class Lexer {
 public:
  explicit Lexer(std::string_view text);
  Token next();

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool skip(std::string_view word);
  void skip_space();
  void newline();
  int long_bracket() const;
  std::string long_text(int level);
  void read_escape(std::string& into);
  Token read_string();
  Token read_number();

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

}  // namespace gpulua::luafn
