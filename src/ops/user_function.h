#pragma once

// Device code that a script wrote.

#include <cstddef>
#include <cstdint>
#include <string>

namespace gpulua {

/// A namespace `id`, which holds the function `call` of an elementwise operation, or the template `accumulator` of a
/// reduction.
struct UserFunction {
  std::string id;        // unique for the text
  std::string includes;  // what the text needs before it
  std::string text;
  std::uint64_t raw = 0;  // a bit for each input: the function gets all elements of the array

  bool is_raw(std::size_t input) const { return input < 64 && (raw >> input & 1) != 0; }
};

}  // namespace gpulua
