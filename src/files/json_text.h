#pragma once

// The little JSON that headers of files have.

#include <cstdint>
#include <string>
#include <string_view>

namespace gpulua {

/// Reads JSON from its beginning on. Throws Error "[op] FILE: the header is damaged: ..." where the text is not JSON.
class JsonText {
 public:
  JsonText(std::string_view text, std::string where) : text_(text), where_(std::move(where)) {}

  /// Calls read(key) for each value of an object, which reads the value.
  template <class Read>
  void read_object(const Read& read) {
    expect('{');
    if (accept('}')) return;
    do {
      const std::string key = read_string();
      expect(':');
      read(key);
    } while (accept(','));
    expect('}');
  }
  /// Calls read() for each value of an array.
  template <class Read>
  void read_array(const Read& read) {
    expect('[');
    if (accept(']')) return;
    do read();
    while (accept(','));
    expect(']');
  }
  std::string read_string();
  /// An integer from 0 to 2^63 - 1.
  std::int64_t read_integer();
  void expect_end();
  [[noreturn]] void fail(const std::string& what) const;

 private:
  bool accept(char c);
  void expect(char c);
  void skip_space();
  unsigned read_code();

  std::string_view text_;
  std::string where_;
  std::size_t at_ = 0;
};

}  // namespace gpulua
