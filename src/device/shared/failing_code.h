#pragma once

// What does not compile beside kernels.

#include <string_view>

#include "src/device/kernel.h"

namespace gpulua {

/// Takes declarations of the source's text and headers away in which a compiler's messages have errors, so that what
/// uses them does not compile: types lose their definitions, aliases and variables become types without one, and
/// functions that only hosts may call go. Lines keep their numbers. False, with nothing changed, where one of the
/// errors is in other code: kernels, functions and data of devices, and what the author asserts.
bool drop_failing_code(KernelSource& source, std::string_view messages);

}  // namespace gpulua
