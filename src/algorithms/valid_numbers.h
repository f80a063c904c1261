#pragma once

#include "src/array/array.h"

namespace gpulua {

/// Numbers from `least` to `most`, with or without the two themselves.
struct ValidNumbers {
  double least = 0, most = 0;
  bool above = false, below = false;  // without least, without most
  bool whole = false;                 // integers only
};

/// True, in an array without axes. Where an element of `array`, of a real dtype, is not valid, reading it is an error
/// that begins with `text`: "[random.normal] expected a scale of 0 or more". So is reading what was computed with it,
/// and the next wait. Evaluates the array, and waits for nothing.
Array check_numbers(const std::string& text, const Array& array, const ValidNumbers& valid);

}  // namespace gpulua
