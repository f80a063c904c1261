#pragma once

#include <string>
#include <string_view>

#include "src/base/near_name.h"

namespace gpulua {

/// Offers the name of an option to `near`, which searches for `unknown`. Another library's name of the same option
/// matches exactly: "dim", PyTorch's name, for "axis".
void offer_option(NearName& near, std::string_view unknown, std::string_view option);
/// The question of `near` about an unknown option; without one, where else the option belongs: "; sizes are an
/// argument ..." for "size". Empty where nothing is known.
std::string question_about_option(const NearName& near, std::string_view unknown);

}  // namespace gpulua
