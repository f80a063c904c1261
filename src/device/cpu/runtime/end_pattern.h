#pragma once

// What lies beside blocks of memory, so that a write there is found.

#include <array>
#include <cstddef>
#include <cstdint>

// The pattern is in what a sanitizer takes for nobody's memory.
#define GPULUA_READS_POISONED __attribute__((no_sanitize("address")))

namespace gpulua::cpu {

constexpr std::size_t most_pattern_bytes = 64;

// The pattern by words, which begin at any address.
using PatternWord [[gnu::may_alias, gnu::aligned(1)]] = std::uint64_t;
inline constexpr auto end_pattern = [] {
  std::array<std::uint64_t, most_pattern_bytes / sizeof(PatternWord)> words{};
  for (std::size_t i = 0; i < most_pattern_bytes; ++i)
    words[i / sizeof(PatternWord)] |= std::uint64_t{(0xA7 ^ (i * 29)) & 0xff} << i % sizeof(PatternWord) * 8;
  return words;
}();

GPULUA_READS_POISONED inline void write_pattern(char* place, std::size_t bytes) {
  volatile PatternWord* const at = reinterpret_cast<volatile PatternWord*>(place);
  for (std::size_t i = 0; i < bytes / sizeof(PatternWord); ++i) at[i] = end_pattern[i];
}

GPULUA_READS_POISONED inline bool has_pattern(const char* place, std::size_t bytes) {
  const volatile PatternWord* const at = reinterpret_cast<const volatile PatternWord*>(place);
  for (std::size_t i = 0; i < bytes / sizeof(PatternWord); ++i)
    if (at[i] != end_pattern[i]) return false;
  return true;
}

}  // namespace gpulua::cpu
