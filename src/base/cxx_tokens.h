#pragma once

// The tokens of C++ text as it stands: no macro is expanded, and no condition of the preprocessor is evaluated.

#include <cstddef>
#include <string_view>

namespace gpulua {

struct CxxToken {
  enum class Kind {
    end,        // of the text; the token is empty
    word,       // an identifier or a keyword
    number,     // "1'000", ".5e-3f"
    string,     // with its prefix and quotation marks, or raw
    character,  // the same in apostrophes
    mark,       // one character of an operator, or any other character
    directive,  // a line of the preprocessor from its # on, with the lines that continue it
  } kind = Kind::end;
  std::string_view text;  // a part of the scanned text

  bool is_literal() const { return kind == Kind::string || kind == Kind::character; }
};

/// Goes through a text. Comments are blanks. What has no end ends with its line, or, as comments and raw strings have
/// lines, with the text.
class CxxTokens {
 public:
  explicit CxxTokens(std::string_view text) : text_(text) {}
  CxxToken next();
  /// The text after the last token.
  std::string_view rest() const { return text_.substr(at_); }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  bool starts_line_ = true;  // only blanks precede `at_` on its line
};

/// The parts of a directive: "include" and "<vector>" of #include <vector>.
struct CxxDirective {
  explicit CxxDirective(const CxxToken& token);
  /// The header that it includes, without brackets or quotation marks. Empty for other directives, and where a macro
  /// gives the header.
  std::string_view included() const;

  std::string_view name, rest;
};

}  // namespace gpulua
