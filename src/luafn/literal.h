#pragma once

#include <string>

#include "src/base/dtype.h"
#include "src/luafn/uniform.h"

namespace gpulua::luafn {

/// The constant as a C++ literal of that dtype, rounded to it as an array's element is. Throws Error when an integer
/// does not fit.
std::string literal(const HostScalar& constant, DType dtype);

}  // namespace gpulua::luafn
