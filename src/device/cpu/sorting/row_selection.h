#pragma once

// The element at one rank of a row, without a sort.

#include <cstdint>
#include <utility>
#include <vector>

#include "src/device/cpu/sorting/chunks.h"
#include "src/device/cpu/sorting/element_order.h"

namespace gpulua::cpu {

/// The number of the element at `rank`, counted from 0. One pass counts the elements by the highest bits of their
/// numbers. The elements that have those of the rank are then copied and searched.
template <class Bits>
Bits number_at(const Chunks& chunks, const ElementOrder<Bits>& order, const Bits* row, std::size_t rank) {
  constexpr int all = 8 * sizeof(Bits);
  const int width = std::min(chunks.size() < 1024 ? 8 : 11, all), shift = all - width;
  const std::size_t digits = std::size_t{1} << width, tables = 2 * chunks.count();
  std::vector<std::uint32_t> counts(tables * digits);
  chunks.each([&](std::size_t chunk, std::size_t first, std::size_t last) {
    // Two tables, for neighbours that have the same digit: the second does not wait for the first one's store.
    const ElementOrder<Bits> mine = order;
    std::uint32_t *const even = &counts[2 * chunk * digits], *const odd = even + digits;
    std::size_t i = first;
    for (; i + 2 <= last; i += 2) {
      ++even[mine.number(row[i]) >> shift];
      ++odd[mine.number(row[i + 1]) >> shift];
    }
    if (i < last) ++even[mine.number(row[i]) >> shift];
  });
  std::size_t digit = 0, count = 0;
  for (;; ++digit, rank -= count) {
    count = 0;
    for (std::size_t table = 0; table < tables; ++table) count += counts[table * digits + digit];
    if (rank < count) break;
  }
  if (shift == 0) return static_cast<Bits>(digit);
  std::vector<Bits> found(count);
  std::vector<std::size_t> starts(chunks.count());
  for (std::size_t chunk = 0, sum = 0; chunk < chunks.count(); ++chunk) {
    starts[chunk] = sum;
    sum += counts[2 * chunk * digits + digit] + counts[(2 * chunk + 1) * digits + digit];
  }
  chunks.each([&](std::size_t chunk, std::size_t first, std::size_t last) {
    const ElementOrder<Bits> mine = order;
    const auto wanted = static_cast<Bits>(digit);
    Bits* to = found.data() + starts[chunk];
    for (std::size_t i = first; i < last; ++i)
      if (const Bits number = mine.number(row[i]); static_cast<Bits>(number >> shift) == wanted) *to++ = number;
  });
  std::nth_element(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(rank), found.end());
  return found[rank];
}

/// Moves the elements before `key` to the front, then those equal to it, then the others, each in their order. Writes
/// the first `count` of them. Either of `values` and `positions` may be null.
template <class Bits>
void part_by(const Chunks& chunks, const ElementOrder<Bits>& order, const Bits* row, Bits key, std::size_t count,
             Bits* values, std::uint32_t* positions) {
  constexpr std::size_t classes = 3;
  const auto class_of = [key](Bits number) { return std::size_t{number >= key} + std::size_t{number > key}; };
  std::vector<std::size_t> targets(classes * chunks.count());
  chunks.each([&](std::size_t chunk, std::size_t first, std::size_t last) {
    const ElementOrder<Bits> mine = order;
    std::uint32_t before = 0, equal = 0;
    for (std::size_t i = first; i < last; ++i) {
      const Bits number = mine.number(row[i]);
      before += number < key;
      equal += number == key;
    }
    targets[chunk] = before;
    targets[chunks.count() + chunk] = equal;
    targets[2 * chunks.count() + chunk] = last - first - before - equal;
  });
  std::size_t sum = 0;
  for (std::size_t& target : targets) sum += std::exchange(target, sum);
  chunks.each([&](std::size_t chunk, std::size_t first, std::size_t last) {
    const ElementOrder<Bits> mine = order;
    std::size_t next[classes];
    for (std::size_t each = 0; each < classes; ++each) next[each] = targets[each * chunks.count() + chunk];
    const bool needs_last = next[2] < count;
    for (std::size_t i = first; i < last; ++i) {
      const std::size_t of = class_of(mine.number(row[i]));
      if (of == 2 && !needs_last) continue;
      const std::size_t to = next[of]++;
      if (to >= count) continue;
      if (values) values[to] = row[i];
      if (positions) positions[to] = static_cast<std::uint32_t>(i);
    }
  });
}

}  // namespace gpulua::cpu
