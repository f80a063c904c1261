#pragma once

#include <string>
#include <vector>

#include "src/base/scalar.h"

namespace gpulua {

/// What print(array) shows for the elements of one array: texts of one width, which line up when they stand below each
/// other. Numbers with a fraction have six significant digits, and their points in one column; all have an exponent
/// where one is 1e8 or more, or below 1e-4.
std::vector<std::string> aligned_texts(const std::vector<Scalar>& elements);

}  // namespace gpulua
