#pragma once

// An array as print(x) shows it.

#include <string>

#include "src/array/node.h"

namespace gpulua {

/// "float32[1000x1000] cuda:0" and the elements in lines of at most `width` characters. A large array is shown by its
/// corners. Copies only the elements that it shows.
std::string format(Node& array, std::size_t width);

}  // namespace gpulua
