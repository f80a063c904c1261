#pragma once

// The code for hosts that other people's files have beside their kernels.

#include <string>
#include <string_view>

namespace gpulua {

/// A header of C++, of the system or of CUDA's libraries, as an #include names it, that has nothing for kernels.
bool is_host_header(std::string_view name);

/// The text with blanks for the functions that no mark makes a device's, and for the includes of such headers. Members
/// of types call `void gpulua_host()` instead, which the caller declares. A word that looks like a macro may be such a
/// mark: that function stays. Lines keep their numbers.
std::string without_host_code(std::string_view text);

}  // namespace gpulua
