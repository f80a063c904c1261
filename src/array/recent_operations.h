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
    costs_[last_ % costs_.size()] = cost;
    spent_ += cost;
    return last_;
  }
  /// What all operations cost together.
  std::uint64_t spent() const { return spent_; }
  std::uint64_t last() const { return last_; }

  /// The number of operations after which the latest ones repeat; 0: they do not. That many operations cost at most
  /// `most_cost`. Of several numbers it is the one that explains the longest stretch: a step of an outer loop rather
  /// than one of the inner loop. For `known`, the number of an earlier loop, two steps prove the loop.
  std::uint64_t period(std::uint64_t most_cost, std::uint64_t known) const;
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
  std::array<std::uint32_t, 2 * longest> costs_{};
  std::uint64_t last_ = 0;
  std::uint64_t spent_ = 0;
};

}  // namespace gpulua
