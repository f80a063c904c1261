#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpulua {

// What messages say of functions that no call has asked for: from the text of all signatures.

/// The call of `gpu.` + op, or of a method, "A:sum", without its options: "gpu.clip(x, low, high)". Empty without a
/// line of its own.
std::string call_of(const std::string& op);

/// The names of the arguments before the options; empty without a line.
std::vector<std::string> arguments_of(const std::string& op);

/// The call of the function of that name in a part of gpu, "gpu.ndimage.sobel(x [, axis])"; empty when no part has it.
std::string call_in_a_part(std::string_view name);

}  // namespace gpulua
