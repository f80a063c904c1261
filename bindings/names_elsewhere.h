#pragma once

#include <string_view>

namespace gpulua {

/// What to write here for a function, method or constant of NumPy, CuPy, PyTorch, PyCUDA, Numba or Lua:
/// `x:table()` for "tolist". Empty for a name that is not listed. Used only in messages about unknown names.
std::string_view name_elsewhere(std::string_view name);
/// As above of options: "axis" for PyTorch's "dim". The function that is called may have no such option.
std::string_view option_elsewhere(std::string_view name);

}  // namespace gpulua
