#pragma once

#include <string>
#include <vector>

#include "src/base/scalar.h"

namespace gpulua {

/// Formats the elements for print(array), as texts of equal width that form aligned columns. Numbers with a fraction
/// get `precision` significant digits and are aligned at the decimal point. When one magnitude is 1e8 or more, or below 1e-4,
/// all numbers get an exponent.
std::vector<std::string> aligned_texts(const std::vector<Scalar>& elements, int precision);

}  // namespace gpulua
