#pragma once

// The text of an array for print(x).

#include <cstdint>
#include <string>

#include "src/array/node.h"

namespace gpulua {

/// How arrays are shown. The defaults are NumPy's.
struct PrintOptions {
  int precision = 6;              // significant digits of numbers with a fraction
  std::int64_t edge = 3;          // elements at each end of an axis of an array that is not shown whole
  std::int64_t threshold = 1000;  // the most elements of an array that is shown whole
  std::size_t width = 0;          // characters of a line; 0: as the terminal
};

/// A heading ("float32[1000x1000] cuda:0") and the elements, in lines of at most `width` characters. A large array is
/// shown by its corners. Waits; copies only the elements that are shown.
std::string format(Node& array, const PrintOptions& options);

}  // namespace gpulua
