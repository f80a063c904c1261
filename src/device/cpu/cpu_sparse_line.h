#pragma once

// A line of a sparse matrix that terms are added to: its places and the sums there.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace gpulua::cpu {

/// With an element for each place, for widths that memory has room for.
template <class Sum, class Index>
class WideLine {
 public:
  static constexpr bool needs_room = false;

  explicit WideLine(std::int64_t width)
      : sums_(std::make_unique<Sum[]>(static_cast<std::size_t>(width))),
        lines_(static_cast<std::size_t>(width)),
        places_(std::make_unique_for_overwrite<Index[]>(static_cast<std::size_t>(width) + lanes)) {}

  /// Makes the line empty, with room for places; see needs_room.
  void reset(std::int64_t) {
    size_ = 0;
    ++line_;
  }

  /// Adds `count` places without terms.
  void mark(const Index* places, std::int64_t count) {
    Index* const lines = lines_.data();
    std::int64_t size = size_;
    const Index line = line_;
    for (std::int64_t i = 0; i < count; ++i) {
      size += lines[places[i]] != line;
      lines[places[i]] = line;
    }
    size_ = size;
  }

  /// Adds term(i) at the i-th of `count` places.
  template <class Term>
  void add(const Index* places, std::int64_t count, const Term& term) {
    // Members are copied: the loop's writes might change them, as far as the compiler knows.
    Index *const lines = lines_.data(), *const list = places_.get();
    Sum* const sums = sums_.get();
    std::int64_t size = size_;
    const Index line = line_;
    for (std::int64_t i = 0; i < count; ++i) {
      const Index place = places[i];
      sums[place] = sums[place] + term(i);
      // A branch would be mispredicted for every other term.
      list[size] = place;
      size += lines[place] != line;
      lines[place] = line;
    }
    size_ = size;
  }

  std::int64_t size() const { return size_; }

  /// Writes the places in ascending order, and their sums, which are 0 then.
  void write(Index* places, Sum* sums) {
    if (size_ <= few)
      write_few(places, sums);
    else
      write_many(places, sums);
  }

 private:
  static constexpr std::int64_t few = 32, lanes = 16;

  /// Each place is put where as many are below it: in vectors, without a branch.
  void write_few(Index* places, Sum* sums) {
    Index below[few];
    std::fill(places_.get() + size_, places_.get() + size_ + lanes, Index{});
    for (std::int64_t first = 0; first < size_; first += lanes) {
      Index counts[lanes] = {};
      for (std::int64_t i = 0; i < size_; ++i)
        for (std::int64_t lane = 0; lane < lanes; ++lane) counts[lane] += places_[i] < places_[first + lane];
      std::copy(counts, counts + lanes, below + first);
    }
    for (std::int64_t i = 0; i < size_; ++i) {
      places[below[i]] = places_[i];
      sums[below[i]] = std::exchange(sums_[places_[i]], Sum{});
    }
  }

  /// By a bit for each place, and one for each 64 of those.
  void write_many(Index* places, Sum* sums) {
    if (bits_.empty()) {
      bits_.resize(lines_.size() / 64 + 1);
      words_.resize(bits_.size() / 64 + 1);
    }
    std::size_t first = words_.size(), last = 0;
    for (std::int64_t i = 0; i < size_; ++i) {
      const auto place = static_cast<std::size_t>(places_[i]);
      bits_[place / 64] |= std::uint64_t{1} << place % 64;
      words_[place / 4096] |= std::uint64_t{1} << place / 64 % 64;
      first = std::min(first, place / 4096);
      last = std::max(last, place / 4096);
    }
    for (std::size_t i = first; i <= last; ++i) {
      for (; words_[i] != 0; words_[i] &= words_[i] - 1) {
        const std::size_t word = i * 64 + static_cast<std::size_t>(std::countr_zero(words_[i]));
        for (; bits_[word] != 0; bits_[word] &= bits_[word] - 1) {
          const std::size_t place = word * 64 + static_cast<std::size_t>(std::countr_zero(bits_[word]));
          *places++ = static_cast<Index>(place);
          *sums++ = std::exchange(sums_[place], Sum{});
        }
      }
    }
  }

  std::unique_ptr<Sum[]> sums_;
  std::vector<Index> lines_;         // the last line that each place was in
  std::unique_ptr<Index[]> places_;  // of this line, and room for some more
  std::vector<std::uint64_t> bits_, words_;
  Index line_ = 0;
  std::int64_t size_ = 0;
};

/// In a hash table with open addressing.
template <class Sum, class Index>
class HashedLine {
 public:
  static constexpr bool needs_room = true;

  explicit HashedLine(std::int64_t) {}

  void reset(std::int64_t terms) {
    const std::size_t size = std::bit_ceil(static_cast<std::size_t>(2 * terms + 1));
    for (const std::size_t at : used_) slots_[at].place = -1;
    if (slots_.size() < size) slots_.assign(size, {-1, Sum{}});
    used_.clear();
    shift_ = 64 - std::countr_zero(size);
  }

  void mark(const Index* places, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) at(places[i]);
  }
  template <class Term>
  void add(const Index* places, std::int64_t count, const Term& term) {
    for (std::int64_t i = 0; i < count; ++i) {
      Sum& sum = at(places[i]);
      sum = sum + term(i);
    }
  }

  std::int64_t size() const { return static_cast<std::int64_t>(used_.size()); }

  /// Writes the places in ascending order, and their sums.
  void write(Index* places, Sum* sums) {
    std::sort(used_.begin(), used_.end(),
              [this](std::size_t a, std::size_t b) { return slots_[a].place < slots_[b].place; });
    for (const std::size_t at : used_) {
      *places++ = static_cast<Index>(slots_[at].place);
      *sums++ = slots_[at].sum;
    }
  }

 private:
  struct Slot {
    std::int64_t place;  // -1: not used
    Sum sum;
  };

  Sum& at(std::int64_t place) {
    // Fibonacci hashing: the highest bits of a product with 2^64 over the golden ratio.
    std::size_t at =
        shift_ == 64 ? 0 : static_cast<std::size_t>(static_cast<std::uint64_t>(place) * 0x9e3779b97f4a7c15u >> shift_);
    const std::size_t last = (std::size_t{1} << (64 - shift_)) - 1;
    while (slots_[at].place != place) {
      if (slots_[at].place < 0) {
        slots_[at] = {place, Sum{}};
        used_.push_back(at);
        break;
      }
      at = (at + 1) & last;
    }
    return slots_[at].sum;
  }

  std::vector<Slot> slots_;
  std::vector<std::size_t> used_;
  int shift_ = 64;
};

}  // namespace gpulua::cpu
