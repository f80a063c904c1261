#pragma once

#include <array>
#include <cstdint>

namespace gpulua {

/// The signatures of a script's latest operations, in the order in which it made them. While a loop runs they repeat.
/// Operations are numbered from 1.
class RecentOperations {
 public:
  /// Notes an operation and gives its number. The signature tells the script's line and the kind of operation.
  std::uint64_t note(std::uint64_t signature, std::uint32_t cost) {
    signatures_[++last_ % signatures_.size()] = signature;
    spent_before_[last_ % spent_before_.size()] = spent_;
    spent_ += cost;
    return last_;
  }
  /// What the operations from this one on cost together; a great number where they are forgotten.
  std::uint64_t cost_since(std::uint64_t number) const {
    if (number > last_) return 0;
    return last_ - number < spent_before_.size() ? spent_ - spent_before_[number % spent_before_.size()] : ~0ull;
  }
  std::uint64_t last() const { return last_; }

  /// The number of operations after which those from `first` on repeat; 0: they do not. That many operations cost at
  /// most `most_cost`. Of several numbers it is the one that explains the longest stretch: a step of an outer loop
  /// rather than one of the inner loop. For `known`, the number of a loop that goes on, two steps prove the loop.
  std::uint64_t period(std::uint64_t first, std::uint64_t most_cost, std::uint64_t known) const;
  /// True when the operations that follow operation `number` repeat after each `period` of them, up to the last one.
  bool repeats(std::uint64_t number, std::uint64_t period) const;
  /// True when the operations after operation `number` are not forgotten.
  bool remembers(std::uint64_t number) const { return last_ - number <= signatures_.size(); }
  /// A digest of the `count` operations that follow operation `number`.
  std::uint64_t digest(std::uint64_t number, std::uint64_t count) const;

 private:
  static constexpr std::uint64_t longest = 512;

  std::uint64_t signature(std::uint64_t number) const { return signatures_[number % signatures_.size()]; }
  /// How many of the latest operations are like the ones `period` operations before. Counting stops at `most`.
  std::uint64_t stretch(std::uint64_t period, std::uint64_t most) const;

  std::array<std::uint64_t, 2 * longest> signatures_{};
  std::array<std::uint64_t, 2 * longest> spent_before_{};  // what all operations before each one cost
  std::uint64_t last_ = 0;
  std::uint64_t spent_ = 0;
};

}  // namespace gpulua
