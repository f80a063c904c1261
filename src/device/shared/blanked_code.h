#pragma once

// Takes code out of a text whose lines keep their numbers.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace gpulua {

class BlankedCode {
 public:
  explicit BlankedCode(std::string_view text) : text_(text), result_(text) {}

  /// Replaces the code there by blanks. Preprocessor lines stay, because their conditions may belong to other code;
  /// #include, #pragma, #error and #warning lines go.
  void blank(std::size_t begin, std::size_t end);

  /// Puts `code`, of one line, at a place of the text. It replaces what was put there before.
  void put(std::size_t place, std::string code) { put_[place] = std::move(code); }

  std::string text() const;

 private:
  std::string_view text_;
  std::string result_;
  std::map<std::size_t, std::string> put_;
};

}  // namespace gpulua
