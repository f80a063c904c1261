#include "src/device/cpu/sorting/cpu_key_counter.h"

#include <algorithm>
#include <vector>

#include "src/device/cpu/sorting/chunks.h"
#include "src/device/cpu/sorting/vector_code.h"

namespace gpulua::cpu {
namespace {

/// Calls work with a null pointer to the type of the keys or the weights.
template <class Work>
auto by_type(DType dtype, const Work& work) {
  switch (dtype) {
    case DType::int8:
      return work(static_cast<std::int8_t*>(nullptr));
    case DType::int16:
      return work(static_cast<std::int16_t*>(nullptr));
    case DType::int32:
      return work(static_cast<std::int32_t*>(nullptr));
    case DType::uint16:
      return work(static_cast<std::uint16_t*>(nullptr));
    case DType::uint32:
      return work(static_cast<std::uint32_t*>(nullptr));
    case DType::uint8:
    case DType::boolean:
      return work(static_cast<std::uint8_t*>(nullptr));
    case DType::uint64:
      return work(static_cast<std::uint64_t*>(nullptr));
    default:
      return work(static_cast<std::int64_t*>(nullptr));
  }
}

/// The weights from `first` on in float64, up to a block of them, which may be copied to `block`.
constexpr std::size_t weights_of_block = 512;
const double* weights_from(const KeysToCount& p, std::size_t first, double (&block)[weights_of_block]) {
  if (p.weight_dtype == DType::float64) return static_cast<const double*>(p.weights) + first;
  const std::size_t count = std::min(static_cast<std::size_t>(p.size) - first, weights_of_block);
  const auto widen = [&]<class Weight>(Weight*) {
    in_vectors([&] { std::copy_n(static_cast<const Weight*>(p.weights) + first, count, block); });
  };
  if (p.weight_dtype == DType::float32)
    widen(static_cast<float*>(nullptr));
  else
    by_type(p.weight_dtype, widen);
  return block;
}

template <class Key>
std::pair<std::int64_t, std::int64_t> find_range(const KeysToCount& p) {
  const auto* const keys = static_cast<const Key*>(p.keys);
  const Chunks chunks = Chunks::over_cores(static_cast<std::size_t>(p.size));
  std::vector<std::pair<Key, Key>> ranges(chunks.count());
  chunks.each([&](std::size_t chunk, std::size_t first, std::size_t last) {
    in_vectors([&] {
      Key least = keys[first], most = keys[first];
      for (std::size_t i = first; i < last; ++i) least = std::min(least, keys[i]), most = std::max(most, keys[i]);
      ranges[chunk] = {least, most};
    });
  });
  auto [least, most] = ranges[0];
  for (const auto& [low, high] : ranges) least = std::min(least, low), most = std::max(most, high);
  return {static_cast<std::int64_t>(least), static_cast<std::int64_t>(most)};
}

template <class Key>
class Counting {
 public:
  explicit Counting(const KeysToCount& p)
      : keys_(static_cast<const Key*>(p.keys)),
        size_(static_cast<std::size_t>(p.size)),
        count_(static_cast<std::size_t>(p.count)) {}

  /// One after the other: a sum has the order of the keys.
  void add_weights(const KeysToCount& p, double* totals) const {
    double block[weights_of_block];
    for (std::size_t first = 0; first < size_; first += weights_of_block) {
      const double* const weights = weights_from(p, first, block);
      const std::size_t count = std::min(size_ - first, weights_of_block);
      for (std::size_t i = 0; i < count; ++i)
        if (const std::size_t at = place(first + i); at < count_) totals[at] += weights[i];
    }
  }

  /// Each core counts a chunk by itself, unless there are so many totals that adding up theirs takes longer.
  void count(std::int64_t* totals) const {
    const Chunks chunks = Chunks::over_cores(size_);
    if (chunks.count() == 1 || chunks.count() * count_ > size_) return add_up(0, size_, totals, totals);
    // Of two equal keys in a row, each has a counter of its own, so that one does not wait for the other.
    std::vector<std::vector<std::int64_t>> counts(chunks.count());
    chunks.each([&](std::size_t chunk, std::size_t first, std::size_t last) {
      counts[chunk].resize(2 * count_);
      add_up(first, last, counts[chunk].data(), counts[chunk].data() + count_);
    });
    for (const std::vector<std::int64_t>& own : counts)
      for (std::size_t i = 0; i < count_; ++i) totals[i] += own[i] + own[count_ + i];
  }

 private:
  std::size_t place(std::size_t i) const { return static_cast<std::size_t>(static_cast<std::int64_t>(keys_[i])); }

  void add_up(std::size_t first, std::size_t last, std::int64_t* even, std::int64_t* odd) const {
    const std::size_t count = count_;
    std::size_t i = first;
    for (; i + 2 <= last; i += 2) {
      const std::size_t one = place(i), other = place(i + 1);
      if (one < count) ++even[one];
      if (other < count) ++odd[other];
    }
    if (i < last)
      if (const std::size_t at = place(i); at < count) ++even[at];
  }

  const Key* keys_;
  std::size_t size_, count_;
};

}  // namespace

std::pair<std::int64_t, std::int64_t> range_of(const KeysToCount& keys) {
  return by_type(keys.dtype, [&]<class Key>(Key*) { return find_range<Key>(keys); });
}

void count_keys(const KeysToCount& keys) {
  by_type(keys.dtype, [&]<class Key>(Key*) {
    const Counting<Key> counting(keys);
    if (keys.weights != nullptr)
      counting.add_weights(keys, static_cast<double*>(keys.totals));
    else
      counting.count(static_cast<std::int64_t*>(keys.totals));
  });
}

}  // namespace gpulua::cpu
