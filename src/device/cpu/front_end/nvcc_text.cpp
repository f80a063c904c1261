#include "src/device/cpu/front_end/nvcc_text.h"

#include <cctype>
#include <string_view>

#include "src/base/cxx_tokens.h"

namespace gpulua::cpu {
namespace {

void replace_constraints(std::string& text) {
  for (std::size_t quote = text.find('"'); quote != std::string::npos; quote = text.find('"', quote + 1)) {
    const std::size_t letter = text.find_first_not_of("=+&", quote + 1);
    if (letter == std::string::npos || letter + 1 >= text.size() || text[letter + 1] != '"') continue;
    const std::size_t next = text.find_first_not_of(" \t\n\\", letter + 2);
    if (next == std::string::npos || text[next] != '(') continue;
    if (text[letter] == 'h') text[letter] = 'r';
#ifdef __x86_64__
    if (text[letter] == 'f' || text[letter] == 'd') text[letter] = 'x';
#else
    if (text[letter] == 'f' || text[letter] == 'd') text[letter] = 'w';
    if (text[letter] == 'l') text[letter] = 'r';
#endif
  }
}

/// Writes an asm statement's instructions and operands as clang wants them: "%laneid" with two percent signs, and
/// commas between the operands.
class Statements {
 public:
  explicit Statements(std::string_view text) : text_(text) {}

  std::string rewritten() {
    CxxTokens tokens(text_);
    std::string_view before;
    for (CxxToken token = tokens.next(); token.kind != CxxToken::Kind::end; token = tokens.next()) {
      const bool is_mark = token.kind == CxxToken::Kind::mark;
      if (token.text == "asm" || token.text == "__asm__" || token.text == "__asm") part_ = Part::instructions;
      if (part_ != Part::none && is_mark && token.text == ";") part_ = Part::none;
      if (part_ == Part::instructions && is_mark && token.text == ":") part_ = Part::operands;
      if (token.kind == CxxToken::Kind::string && part_ == Part::instructions) escape(token.text);
      if (token.kind == CxxToken::Kind::string && part_ == Part::operands && before == ")")
        insert(token.text.data(), ",");
      // clang takes alignas at the beginning of a declaration alone.
      if (before == "__shared__" && token.text == "alignas") {
        insert(token.text.data(), "_Alignas");
        done_ += token.text.size();
      }
      before = token.text;
    }
    return result_.append(text_.substr(done_));
  }

 private:
  void insert(const char* at, std::string_view what) {
    const auto place = static_cast<std::size_t>(at - text_.data());
    result_.append(text_.substr(done_, place - done_)).append(what);
    done_ = place;
  }
  void escape(std::string_view instructions) {
    for (std::size_t i = 0; i + 1 < instructions.size(); ++i) {
      if (instructions[i] != '%') continue;
      const char next = instructions[i + 1];
      if (next == '%')
        ++i;
      else if (std::isalpha(static_cast<unsigned char>(next)) != 0)
        insert(&instructions[i], "%");
    }
  }

  enum class Part { none, instructions, operands };
  std::string_view text_;
  std::string result_;
  std::size_t done_ = 0;
  Part part_ = Part::none;
};

}  // namespace

void rewrite_for_clang(std::string& text) {
  if (text.find("asm") == std::string::npos && text.find("alignas") == std::string::npos) return;
  replace_constraints(text);
  text = Statements(text).rewritten();
}

}  // namespace gpulua::cpu
