#pragma once

// The elements at some ranks of a row, without a sort.

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "src/device/cpu/sorting/chunks.h"
#include "src/device/cpu/sorting/element_order.h"
#include "src/device/cpu/sorting/vector_code.h"

namespace gpulua::cpu {

constexpr std::size_t selection_block = 64;  // elements that a loop tests together

/// Calls take(i) for each i of a block whose flag is 1.
template <class Take>
void each_flagged(const std::uint8_t (&flags)[selection_block], const Take& take) {
  for (std::size_t begin = 0; begin < selection_block; begin += sizeof(std::uint64_t)) {
    std::uint64_t word;
    std::memcpy(&word, flags + begin, sizeof word);
    for (; word != 0; word &= word - 1) take(begin + static_cast<std::size_t>(std::countr_zero(word)) / 8);
  }
}

/// Calls work(begin, count) for the blocks of a row: with a constant `count`, except for the last one.
template <class Work>
void each_block(std::size_t first, std::size_t last, const Work& work) {
  for (; last - first >= selection_block; first += selection_block)
    work(first, std::integral_constant<std::size_t, selection_block>());
  if (first < last) work(first, last - first);
}

/// How the numbers of a row lie to two bounds.
template <class Bits>
struct Division {
  std::size_t below = 0, at_low = 0, at_high = 0;
  std::vector<Bits> between;  // the numbers between the bounds
};

/// The numbers at some ranks of a row, counted from 0. Floyd and Rivest, "Expected Time Bounds for Selection", 1975: a
/// sample tells two bounds that the rank's number probably lies between. One pass counts the numbers below the bounds
/// and copies the few between them, which are searched in the same way.
template <class Bits>
class RowSelection {
 public:
  RowSelection(const Chunks& chunks, const ElementOrder<Bits>& order, const Bits* row)
      : chunks_(chunks), order_(order), row_(row) {}

  /// numbers[i] is the number at ranks[i], for `count` ranks that ascend.
  void find(const std::size_t* ranks, std::size_t count, Bits* numbers) const {
    if (chunks_.size() <= few) return find_few(ranks, count, numbers);
    for (std::size_t first = 0, last; first < count; first = last) {
      for (last = first + 1; last < count && ranks[last] - ranks[first] <= chunks_.size() / 64;) ++last;
      if (!find_near(ranks + first, last - first, numbers + first))
        for (; first < last; ++first) numbers[first] = find_by_digit(ranks[first]);
    }
  }

 private:
  static constexpr std::size_t few = 512;

  static void find_in(std::vector<Bits>& found, const std::size_t* ranks, std::size_t count, Bits* numbers) {
    auto begin = found.begin();
    for (std::size_t i = 0; i < count; ++i) {
      const auto at = found.begin() + static_cast<std::ptrdiff_t>(ranks[i]);
      std::nth_element(begin, at, found.end());
      numbers[i] = *(begin = at);
    }
  }

  void find_few(const std::size_t* ranks, std::size_t count, Bits* numbers) const {
    std::vector<Bits> found(chunks_.size());
    for (std::size_t i = 0; i < found.size(); ++i) found[i] = order_.number(row_[i]);
    find_in(found, ranks, count, numbers);
  }

  /// False if the sample misleads.
  bool find_near(const std::size_t* ranks, std::size_t count, Bits* numbers) const {
    const auto [low, high] = bounds(ranks[0], ranks[count - 1]);
    Division<Bits> all = divide(low, high);
    std::vector<std::size_t> inner;  // ranks between the bounds
    const std::size_t begin = all.below + all.at_low, end = begin + all.between.size();
    std::size_t first = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t rank = ranks[i];
      if (rank < all.below || rank >= end + all.at_high) return false;
      if (rank < begin) {
        numbers[i] = low;
        first = i + 1;
      } else if (rank < end) {
        inner.push_back(rank - begin);
      } else {
        numbers[i] = high;
      }
    }
    if (inner.empty()) return true;
    if (all.between.size() > chunks_.size() / 2) {
      find_in(all.between, inner.data(), inner.size(), numbers + first);
      return true;
    }
    const Chunks chunks = chunks_.count() == 1 ? Chunks(all.between.size()) : Chunks::over_cores(all.between.size());
    RowSelection(chunks, ElementOrder<Bits>(), all.between.data()).find(inner.data(), inner.size(), numbers + first);
    return true;
  }

  /// Numbers of the row that the ranks' numbers lie between with a probability of 99 %.
  std::pair<Bits, Bits> bounds(std::size_t least_rank, std::size_t greatest_rank) const {
    const std::size_t size = chunks_.size(), share = std::size_t{1} << (std::bit_width(size) / 3 + 1);
    std::vector<Bits> sample(size / share);
    // A place within each share that does not repeat with a period of the row.
    for (std::size_t i = 0; i < sample.size(); ++i)
      sample[i] = order_.number(row_[i * share + ((i * 0x9E3779B97F4A7C15u) >> 40) % share]);
    const auto count = static_cast<double>(sample.size());
    const auto at = [&](std::size_t rank, double deviations) {
      const double share_before = (static_cast<double>(rank) + 0.5) / static_cast<double>(size);
      return count * share_before + deviations * (std::sqrt(count * share_before * (1 - share_before)) + 0.5);
    };
    const double before = std::floor(at(least_rank, -3)), after = std::ceil(at(greatest_rank, 3));
    Bits low = 0, high = std::numeric_limits<Bits>::max();
    auto begin = sample.begin();
    if (before >= 0) {
      std::nth_element(begin, begin + static_cast<std::ptrdiff_t>(before), sample.end());
      low = *(begin += static_cast<std::ptrdiff_t>(before));
    }
    if (after < count) {
      const auto place = sample.begin() + static_cast<std::ptrdiff_t>(after);
      std::nth_element(begin, place, sample.end());
      high = *place;
    }
    return {low, high};
  }

  Division<Bits> divide(Bits low, Bits high) const {
    if (chunks_.count() == 1) return divide_part(0, chunks_.size(), low, high);
    std::vector<Division<Bits>> parts(chunks_.count());
    chunks_.each([&](std::size_t chunk, std::size_t first, std::size_t last) {
      parts[chunk] = divide_part(first, last, low, high);
    });
    Division<Bits> all;
    for (const Division<Bits>& part : parts) {
      all.below += part.below;
      all.at_low += part.at_low;
      all.at_high += part.at_high;
      all.between.insert(all.between.end(), part.between.begin(), part.between.end());
    }
    return all;
  }

  Division<Bits> divide_part(std::size_t begin, std::size_t end, Bits low, Bits high) const {
    Division<Bits> part;
    std::size_t found = 0;
    in_vectors([&] {
      const ElementOrder<Bits> mine = order_;
      const Bits* const row = row_;
      std::size_t below = 0, at_low = 0, at_high = 0;
      each_block(begin, end, [&](std::size_t first, auto count) {
        Bits numbers[selection_block];
        std::uint8_t flags[selection_block] = {};
        for (std::size_t i = 0; i < count; ++i) numbers[i] = mine.number(row[first + i]);
        Bits before = 0, equal = 0, last = 0;
        for (std::size_t i = 0; i < count; ++i) {
          before = static_cast<Bits>(before + (numbers[i] < low));
          equal = static_cast<Bits>(equal + (numbers[i] == low));
          last = static_cast<Bits>(last + (numbers[i] == high));
        }
        for (std::size_t i = 0; i < count; ++i) flags[i] = (numbers[i] > low) & (numbers[i] < high);
        below += before;
        at_low += equal;
        at_high += last;
        if (part.between.size() < found + selection_block) part.between.resize(2 * (found + selection_block));
        Bits* const to = part.between.data();
        each_flagged(flags, [&](std::size_t i) { to[found++] = numbers[i]; });
      });
      part.below = below;
      part.at_low = at_low;
      part.at_high = low == high ? 0 : at_high;
    });
    part.between.resize(found);
    return part;
  }

  /// One pass counts the elements by the highest bits of their numbers. The elements that have those of the rank are
  /// then copied and searched.
  Bits find_by_digit(std::size_t rank) const {
    constexpr int all = 8 * sizeof(Bits), width = std::min(11, all), shift = all - width;
    constexpr std::size_t digits = std::size_t{1} << width;
    std::vector<std::uint32_t> counts(chunks_.count() * digits);
    chunks_.each([&](std::size_t chunk, std::size_t first, std::size_t last) {
      const ElementOrder<Bits> mine = order_;
      std::uint32_t* const table = &counts[chunk * digits];
      for (std::size_t i = first; i < last; ++i) ++table[mine.number(row_[i]) >> shift];
    });
    std::size_t digit = 0, count = 0;
    for (;; ++digit, rank -= count) {
      count = 0;
      for (std::size_t table = 0; table < chunks_.count(); ++table) count += counts[table * digits + digit];
      if (rank < count) break;
    }
    if (shift == 0) return static_cast<Bits>(digit);
    std::vector<Bits> found;
    found.reserve(count);
    for (std::size_t i = 0; i < chunks_.size(); ++i)
      if (const Bits number = order_.number(row_[i]); static_cast<Bits>(number >> shift) == static_cast<Bits>(digit))
        found.push_back(number);
    std::nth_element(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(rank), found.end());
    return found[rank];
  }

  const Chunks& chunks_;
  ElementOrder<Bits> order_;
  const Bits* row_;
};

/// Moves the elements before `key` to the front, then those equal to it, then the others, each in their order. Writes
/// the first `count` of them. Either of `values` and `positions` may be null.
template <class Bits>
void part_by(const Chunks& chunks, const ElementOrder<Bits>& order, const Bits* row, Bits key, std::size_t count,
             Bits* values, std::uint32_t* positions) {
  constexpr std::size_t classes = 3;
  std::vector<std::size_t> targets(classes * chunks.count());
  chunks.each([&](std::size_t chunk, std::size_t first, std::size_t last) {
    std::size_t before = 0, equal = 0;
    in_vectors([&] {
      const ElementOrder<Bits> mine = order;
      each_block(first, last, [&](std::size_t begin, auto size) {
        Bits less = 0, same = 0;
        for (std::size_t i = begin; i < begin + size; ++i) {
          const Bits number = mine.number(row[i]);
          less = static_cast<Bits>(less + (number < key));
          same = static_cast<Bits>(same + (number == key));
        }
        before += less;
        equal += same;
      });
    });
    targets[chunk] = before;
    targets[chunks.count() + chunk] = equal;
    targets[2 * chunks.count() + chunk] = last - first - before - equal;
  });
  std::size_t sum = 0;
  for (std::size_t& target : targets) sum += std::exchange(target, sum);
  chunks.each([&](std::size_t chunk, std::size_t first, std::size_t last) {
    std::size_t next[classes];
    for (std::size_t each = 0; each < classes; ++each) next[each] = targets[each * chunks.count() + chunk];
    const bool needs_last = next[2] < count;
    in_vectors([&] {
      const ElementOrder<Bits> mine = order;
      each_block(first, last, [&](std::size_t begin, auto size) {
        std::uint8_t flags[selection_block] = {};
        for (std::size_t i = 0; i < size; ++i) flags[i] = needs_last | (mine.number(row[begin + i]) <= key);
        each_flagged(flags, [&](std::size_t i) {
          const Bits number = mine.number(row[begin + i]);
          const std::size_t to = next[std::size_t{number >= key} + std::size_t{number > key}]++;
          if (to >= count) return;
          if (values) values[to] = row[begin + i];
          if (positions) positions[to] = static_cast<std::uint32_t>(begin + i);
        });
      });
    });
  });
}

}  // namespace gpulua::cpu
