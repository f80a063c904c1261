#pragma once

// A stable sort by digits. A row that fits into a core's cache is sorted from the lowest digit on. A longer row is
// first divided by its highest digit into parts, since scattered stores to memory cost three times those to a cache.
// Digits are cut from the bits that differ between numbers, so that short ranges take few passes.

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "src/device/cpu/runtime/shared_loops.h"
#include "src/device/cpu/sorting/chunks.h"

namespace gpulua::cpu {

/// A number with the position that it has in its row.
template <class Number>
struct Numbered {
  Number number;
  std::uint32_t position;
};

template <class Number>
Number number_of(Number number) {
  return number;
}
template <class Number>
Number number_of(const Numbered<Number>& element) {
  return element.number;
}

/// Sorts unsigned numbers, or Numbered ones.
template <class Element>
class RadixSort {
 public:
  /// Sorts what is in `data`, or, with `in_other`, in `other`. The result is in `data`; both have room for a row.
  void operator()(const Chunks& chunks, Element* data, Element* other, bool in_other = false) {
    const std::size_t size = chunks.size();
    if (size <= few) return insert(in_other ? other : data, size, data);
    const Number varying = differences(chunks, in_other ? other : data);
    const int low = varying == 0 ? 0 : std::countr_zero(varying);
    const int bits = static_cast<int>(std::bit_width(varying)) - low;
    if (size > cached && !in_other && bits > high_bits)
      by_highest_digit(chunks, data, other, low + bits - high_bits);
    else
      by_digits(chunks, data, other, in_other, low, bits);
  }

 private:
  using Number = decltype(number_of(Element{}));
  using Count = std::uint32_t;

  static constexpr std::size_t few = 48;  // elements that are sorted by insertion
  static constexpr std::size_t cached = (std::size_t{1} << 19) / sizeof(Element);
  static constexpr int high_bits = 10, low_bits = 8;  // of a digit, at most
  // Each chunk is read at four places in turn, with a table of counts for each: the next turn does not wait for this
  // one's store to a count.
  static constexpr std::size_t places = 4;

  static void insert(const Element* from, std::size_t size, Element* to) {
    for (std::size_t i = 0; i < size; ++i) {
      const Element element = from[i];
      std::size_t at = i;
      for (; at > 0 && number_of(to[at - 1]) > number_of(element); --at) to[at] = to[at - 1];
      to[at] = element;
    }
  }

  /// The bits in which numbers differ.
  static Number differences(const Chunks& chunks, const Element* from) {
    std::vector<Number> found(chunks.count());
    chunks.each([&](std::size_t chunk, std::size_t first, std::size_t last) {
      Number differs = 0;
      for (std::size_t i = first; i < last; ++i)
        differs = static_cast<Number>(differs | (number_of(from[i]) ^ number_of(from[0])));
      found[chunk] = differs;
    });
    Number all = 0;
    for (const Number each : found) all = static_cast<Number>(all | each);
    return all;
  }

  void by_digits(const Chunks& chunks, Element* data, Element* other, bool in_other, int low, int bits) {
    // Small tables for small rows.
    const int most = std::clamp(static_cast<int>(std::bit_width(chunks.size())) - 3, 4, low_bits);
    int passes = (bits + most - 1) / most;
    if ((passes % 2 == 1) != in_other) ++passes;  // ends in `data`
    if (passes == 0) return;
    const int width = std::max((bits + passes - 1) / passes, 1);
    for (int pass = 0; pass < passes; ++pass, in_other = !in_other) {
      // Past the highest bit that varies, a pass only moves.
      const int shift = std::min(low + pass * width, static_cast<int>(8 * sizeof(Number)) - 1);
      move(chunks, in_other ? other : data, in_other ? data : other, shift, width);
    }
  }

  void by_highest_digit(const Chunks& chunks, Element* data, Element* other, int shift) {
    const std::vector<Count> begins = move(chunks, data, other, shift, high_bits);
    const auto size_of_part = [&](std::size_t part) {
      return (part + 1 < begins.size() ? begins[part + 1] : chunks.size()) - begins[part];
    };
    const auto sort_part = [&](std::size_t part, const Chunks& shares) {
      RadixSort sort;
      sort(shares, data + begins[part], other + begins[part], true);
    };
    // All cores share a part that would keep one of them busy after the others are done.
    const std::size_t large = chunks.count() == 1 ? chunks.size() : std::max(cached, chunks.size() / chunks.count());
    for (std::size_t part = 0; part < begins.size(); ++part)
      if (size_of_part(part) > large) sort_part(part, Chunks::over_cores(size_of_part(part)));
    const auto sort_others = [&](std::size_t, std::size_t first, std::size_t last) {
      for (std::size_t part = first; part < last; ++part)
        if (const std::size_t size = size_of_part(part); size > 0 && size <= large) sort_part(part, Chunks(size));
    };
    if (chunks.count() == 1) return sort_others(0, 0, begins.size());
    share_each(begins.size(), [&](std::size_t part) { sort_others(0, part, part + 1); });
  }

  /// Moves the elements, ordered by one digit. Returns where each digit's elements begin.
  std::vector<Count> move(const Chunks& chunks, const Element* from, Element* to, int shift, int width) {
    const std::size_t digits = std::size_t{1} << width, tables = chunks.count() * places;
    counts_.assign(tables * digits, 0);
    chunks.each([&](std::size_t chunk, std::size_t first, std::size_t last) {
      count(from + first, last - first, &counts_[chunk * places * digits], digits, shift);
    });
    std::vector<Count> begins(digits);
    Count sum = 0;
    for (std::size_t digit = 0; digit < digits; ++digit) {
      begins[digit] = sum;
      for (std::size_t i = 0; i < tables; ++i) sum += std::exchange(counts_[i * digits + digit], sum);
    }
    chunks.each([&](std::size_t chunk, std::size_t first, std::size_t last) {
      scatter(from + first, last - first, to, &counts_[chunk * places * digits], digits, shift);
    });
    return begins;
  }

  static Count& count_of(Count* table, const Element& element, std::size_t digits, int shift) {
    return table[static_cast<std::size_t>(number_of(element) >> shift) & (digits - 1)];
  }

  // Written out place by place: the compiler keeps the pointers in registers.
  static void count(const Element* from, std::size_t size, Count* table, std::size_t digits, int shift) {
    const std::size_t part = size / places;
    Count *const t0 = table, *const t1 = t0 + digits, *const t2 = t1 + digits, *const t3 = t2 + digits;
    const Element *const f0 = from, *const f1 = f0 + part, *const f2 = f1 + part, *const f3 = f2 + part;
    for (std::size_t i = 0; i < part; ++i) {
      ++count_of(t0, f0[i], digits, shift);
      ++count_of(t1, f1[i], digits, shift);
      ++count_of(t2, f2[i], digits, shift);
      ++count_of(t3, f3[i], digits, shift);
    }
    for (std::size_t i = places * part; i < size; ++i) ++count_of(t3, from[i], digits, shift);
  }

  static void scatter(const Element* from, std::size_t size, Element* to, Count* table, std::size_t digits, int shift) {
    const std::size_t part = size / places;
    Count *const t0 = table, *const t1 = t0 + digits, *const t2 = t1 + digits, *const t3 = t2 + digits;
    const Element *const f0 = from, *const f1 = f0 + part, *const f2 = f1 + part, *const f3 = f2 + part;
    for (std::size_t i = 0; i < part; ++i) {
      const Element e0 = f0[i], e1 = f1[i], e2 = f2[i], e3 = f3[i];
      const Count a0 = count_of(t0, e0, digits, shift)++, a1 = count_of(t1, e1, digits, shift)++,
                  a2 = count_of(t2, e2, digits, shift)++, a3 = count_of(t3, e3, digits, shift)++;
      to[a0] = e0;
      to[a1] = e1;
      to[a2] = e2;
      to[a3] = e3;
    }
    for (std::size_t i = places * part; i < size; ++i) to[count_of(t3, from[i], digits, shift)++] = from[i];
  }

  std::vector<Count> counts_;
};

}  // namespace gpulua::cpu
