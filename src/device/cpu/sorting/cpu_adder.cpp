#include "src/device/cpu/sorting/cpu_adder.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "src/device/cpu/runtime/cpu_stream.h"
#include "src/device/cpu/runtime/shared_loops.h"
#include "src/device/cpu/sorting/cpu_key_counter.h"

namespace gpulua::cpu {
namespace {

template <class T, class Position>
class Addition {
 public:
  explicit Addition(const Additions& additions)
      : positions_(static_cast<const Position*>(additions.positions)),
        count_(additions.count),
        extent_(additions.extent),
        stride_(additions.stride),
        values_(static_cast<const T*>(additions.values)),
        step_(additions.one_value ? 0 : 1),
        to_(static_cast<T*>(additions.to)) {}

  std::int64_t run() const {
    // Additions to a cache take no longer than reading all positions once more.
    constexpr std::int64_t cached = 8 << 20, worth_sharing = 1 << 14;  // bytes, additions of a core
    const std::int64_t cores = sharing_threads();
    const std::int64_t parts = extent_ * std::abs(stride_) * static_cast<std::int64_t>(sizeof(T)) <= cached
                                   ? 1
                                   : std::clamp<std::int64_t>(count_ / worth_sharing, 1, cores);
    if (parts == 1) return add_all() == count_ ? -1 : first_outside();
    // Cores keep away from each other's cache lines.
    constexpr std::int64_t line = 64 / sizeof(T);
    const std::int64_t share = (extent_ / parts + line) / line * line;
    std::atomic<std::int64_t> added{0};
    share_each(parts, [&](std::int64_t part) {
      const std::int64_t first = std::min(part * share, extent_);
      added += add_range(first, std::min(first + share, extent_));
    });
    return added == count_ ? -1 : first_outside();
  }

 private:
  /// The position of value i, counted from 0; below 0 or from the extent on where it is out of range.
  std::int64_t place(std::int64_t i) const {
    const std::int64_t position = positions_[i];
    return position + (position > 0 ? -1 : extent_);
  }
  bool is_in(std::int64_t at, std::int64_t first, std::int64_t last) const {
    return static_cast<std::uint64_t>(at - first) < static_cast<std::uint64_t>(last - first);
  }

  std::int64_t add_all() const {
    std::int64_t added = 0;
    for (std::int64_t i = 0; i < count_; ++i) {
      const std::int64_t at = place(i);
      if (!is_in(at, 0, extent_)) continue;
      to_[at * stride_] += values_[i * step_];
      ++added;
    }
    return added;
  }

  /// Adds to the elements from `first` to before `last`, and returns how many values. A block's values for the range
  /// are listed first, without branches, which no processor could predict.
  std::int64_t add_range(std::int64_t first, std::int64_t last) const {
    constexpr std::int64_t block = 512;
    struct {
      std::int64_t at, value;
    } list[block];
    std::int64_t added = 0;
    for (std::int64_t begin = 0; begin < count_; begin += block) {
      const std::int64_t end = std::min(begin + block, count_);
      std::size_t listed = 0;
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t at = place(i);
        list[listed] = {at, i};
        listed += is_in(at, first, last);
      }
      for (std::size_t i = 0; i < listed; ++i) to_[list[i].at * stride_] += values_[list[i].value * step_];
      added += static_cast<std::int64_t>(listed);
    }
    return added;
  }

  std::int64_t first_outside() const {
    std::int64_t i = 0;
    while (is_in(place(i), 0, extent_)) ++i;
    return i;
  }

  const Position* positions_;
  std::int64_t count_, extent_, stride_;
  const T* values_;
  std::int64_t step_;
  T* to_;
};

/// One core adds, or each core has a range of the elements: it reads all positions and adds the values of those in its
/// range. So no addition is atomic, and the order is the same however many cores there are.
class CpuAdder : public Adder {
 public:
  std::int64_t add(const Additions& additions, Stream&) override {
    return additions.position_dtype == DType::int32 ? add_at<std::int32_t>(additions) : add_at<std::int64_t>(additions);
  }

  std::pair<std::int64_t, std::int64_t> range(const KeysToCount& keys, Stream&) override { return range_of(keys); }
  void count(const KeysToCount& keys, Stream& stream) override {
    queue(stream, [keys] { count_keys(keys); });
  }

 private:
  template <class Position>
  static std::int64_t add_at(const Additions& additions) {
    switch (additions.dtype) {
      case DType::float32:
        return Addition<float, Position>(additions).run();
      case DType::float64:
        return Addition<double, Position>(additions).run();
      default:
        return size_of(additions.dtype) == 4 ? Addition<std::uint32_t, Position>(additions).run()
                                             : Addition<std::uint64_t, Position>(additions).run();
    }
  }
};

}  // namespace

std::unique_ptr<Adder> make_adder() {
  return std::make_unique<CpuAdder>();
}

}  // namespace gpulua::cpu
