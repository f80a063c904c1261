#pragma once

#include <cstdint>

namespace gpulua {

/// The most bytes that `size` bytes of zlib's deflate format can stand for: 258 for each two bits, and some for what is
/// around them. A file that promises more is damaged, and nothing is allocated for it.
constexpr std::uint64_t most_inflated(std::uint64_t size) {
  return size * 1032 + 1032;
}

}  // namespace gpulua
