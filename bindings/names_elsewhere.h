#pragma once

#include <string_view>

#include "src/base/near_name.h"

namespace gpulua {

/// What to write here for a function, method or constant of NumPy, CuPy, PyTorch, PyCUDA, Numba or Lua:
/// `x:table()` for "tolist". Empty for a name that is not listed. Used only in messages about unknown names.
std::string_view name_elsewhere(std::string_view name);
/// Offers the name of an option to `near`, which asks about `unknown`. The name of the same option in another library
/// counts as the name itself: "axis" is what PyTorch's "dim" means.
void offer_option(NearName& near, std::string_view unknown, std::string_view option);

}  // namespace gpulua
