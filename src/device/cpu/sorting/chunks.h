#pragma once

// A row in chunks that the cores share.

#include <algorithm>
#include <cstddef>

#include "src/device/cpu/runtime/shared_loops.h"

namespace gpulua::cpu {

class Chunks {
 public:
  /// One chunk, on this thread.
  explicit Chunks(std::size_t size) : size_(size), count_(1), share_(size) {}

  /// Two chunks for each core, unless the row is short.
  static Chunks over_cores(std::size_t size) {
    constexpr std::size_t least = 1 << 15;
    const auto cores = static_cast<std::size_t>(sharing_threads());
    Chunks chunks(size);
    if (cores == 1 || size < 2 * least) return chunks;
    const std::size_t wanted = std::min(2 * cores, size / least);
    chunks.share_ = (size + wanted - 1) / wanted;
    chunks.count_ = (size + chunks.share_ - 1) / chunks.share_;
    return chunks;
  }

  std::size_t count() const { return count_; }
  std::size_t size() const { return size_; }

  /// Calls work(chunk, first, last) for each chunk, and returns when all are done.
  template <class Work>
  void each(const Work& work) const {
    share_each(count_, [&](std::size_t chunk) { work(chunk, chunk * share_, std::min((chunk + 1) * share_, size_)); });
  }

 private:
  std::size_t size_, count_, share_;
};

}  // namespace gpulua::cpu
