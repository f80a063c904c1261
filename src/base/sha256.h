#pragma once

#include <string>
#include <string_view>

namespace gpulua {

/// The SHA-256 digest (FIPS 180-4) in 64 lower-case hexadecimal digits, as sha256sum prints it.
std::string sha256(std::string_view text);

}  // namespace gpulua
