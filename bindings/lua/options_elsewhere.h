#pragma once

#include <lua.hpp>
#include <string>
#include <string_view>

#include "src/base/near_name.h"

namespace gpulua {

/// Offers the name of an option to `near`, which searches for `unknown`. Another library's name of the same option
/// matches exactly: "dim", PyTorch's name, for "axis".
void offer_option(NearName& near, std::string_view unknown, std::string_view option);
/// What to say about an unknown option of the function `op`: that it is one of its arguments, where the option belongs,
/// or the question of `near`. Empty where nothing is known.
std::string question_about_option(const std::string& op, const NearName& near, std::string_view unknown);
/// What to say where the function `op` gets a number in the place of its options: what MATLAB, Python and others mean
/// by it is done in another way. Empty where nothing is known.
std::string_view number_for_options(std::string_view op);
/// The advice about two texts as the last arguments, at `index` and behind it, where one of them names a dtype:
/// "; {dtype = "float64", device = "cpu"} has both". Empty for other arguments.
std::string dtype_and_device(lua_State* L, int index);
/// "; levels is an argument, not an option: gpu.plot.contour(m [, levels])", for a name, also another library's, of an
/// argument of `op`. Empty for another name.
std::string argument_in_options(const std::string& op, std::string_view unknown);

}  // namespace gpulua
