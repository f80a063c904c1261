#include "src/base/sha256.h"

#include <array>
#include <bit>
#include <cstdint>

namespace gpulua {
namespace {

using Words = std::array<std::uint32_t, 8>;

/// The first 32 bits of the fractional part of the n-th root of the prime, n = 2 or 3, by search: exact in integers.
constexpr std::uint32_t root_fraction(std::uint64_t prime, int n) {
  // The largest x with x^n <= prime * 2^(32 n) is the root times 2^32; its low half is the fraction.
  std::uint64_t x = 0;
  for (int bit = 36; bit >= 0; --bit) {
    const unsigned __int128 tried = x | std::uint64_t{1} << bit;
    const unsigned __int128 power = n == 2 ? tried * tried : tried * tried * tried;
    if (power <= static_cast<unsigned __int128>(prime) << (32 * n)) x |= std::uint64_t{1} << bit;
  }
  return static_cast<std::uint32_t>(x);
}

template <std::size_t count>
constexpr std::array<std::uint32_t, count> root_fractions(int n) {
  std::array<std::uint32_t, count> result{};
  std::uint64_t prime = 1;
  for (std::uint32_t& word : result) {
    bool is_prime = false;
    while (!is_prime) {
      is_prime = true;
      ++prime;
      for (std::uint64_t divisor = 2; divisor * divisor <= prime; ++divisor)
        if (prime % divisor == 0) is_prime = false;
    }
    word = root_fraction(prime, n);
  }
  return result;
}

constexpr Words first_state = root_fractions<8>(2);
constexpr std::array<std::uint32_t, 64> round_constants = root_fractions<64>(3);
static_assert(first_state[0] == 0x6a09e667 && round_constants[63] == 0xc67178f2);

void add_block(Words& state, const unsigned char* block) {
  std::uint32_t schedule[64];
  for (int i = 0; i < 16; ++i)
    schedule[i] = std::uint32_t{block[4 * i]} << 24 | std::uint32_t{block[4 * i + 1]} << 16 |
                  std::uint32_t{block[4 * i + 2]} << 8 | block[4 * i + 3];
  for (int i = 16; i < 64; ++i) {
    const std::uint32_t early = schedule[i - 15], late = schedule[i - 2];
    schedule[i] = schedule[i - 16] + schedule[i - 7] + (std::rotr(early, 7) ^ std::rotr(early, 18) ^ early >> 3) +
                  (std::rotr(late, 17) ^ std::rotr(late, 19) ^ late >> 10);
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (int i = 0; i < 64; ++i) {
    const std::uint32_t sum_e = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t sum_a = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t first = h + sum_e + ((e & f) ^ (~e & g)) + round_constants[i] + schedule[i];
    const std::uint32_t second = sum_a + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const Words added{a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < state.size(); ++i) state[i] += added[i];
}

}  // namespace

std::string sha256(std::string_view text) {
  constexpr std::size_t block = 64;
  std::string message(text);
  message += '\x80';
  message.append((2 * block - 8 - message.size() % block) % block, '\0');
  for (int shift = 56; shift >= 0; shift -= 8) message += static_cast<char>(std::uint64_t{text.size()} * 8 >> shift);

  Words state = first_state;
  for (std::size_t at = 0; at < message.size(); at += block)
    add_block(state, reinterpret_cast<const unsigned char*>(message.data()) + at);

  std::string digits;
  for (const std::uint32_t word : state)
    for (int shift = 28; shift >= 0; shift -= 4) digits += "0123456789abcdef"[word >> shift & 15];
  return digits;
}

}  // namespace gpulua
