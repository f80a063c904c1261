#pragma once

#include "src/luafn/syntax.h"

namespace gpulua::luafn {

/// The line of a division `/` in the expression, or in what an assignment gives to a variable of it; 0 without one.
int line_of_division(const Expr& expr);

}  // namespace gpulua::luafn
