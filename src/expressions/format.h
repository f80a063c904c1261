#pragma once

// The text of an array for print(x).

#include <string>

#include "src/array/node.h"

namespace gpulua {

/// A heading ("float32[1000x1000] cuda:0") and the elements, in lines of at most `width` characters. A large array is
/// shown by its corners. Waits; copies only the elements that are shown.
std::string format(Node& array, std::size_t width);

}  // namespace gpulua
