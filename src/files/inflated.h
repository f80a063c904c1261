#pragma once

#include <cstdint>

namespace gpulua {

/// The most bytes to which `size` bytes of zlib's deflate format can expand: 258 for each two bits, and some for the
/// framing. A file whose header promises more is damaged, and its reader allocates nothing.
constexpr std::uint64_t most_inflated(std::uint64_t size) {
  return size * 1032 + 1032;
}

}  // namespace gpulua
