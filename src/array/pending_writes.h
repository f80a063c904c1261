#pragma once

// Arrays that were written whole, and whose new elements are pending.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/array/array_handle.h"

namespace gpulua {

/// The nodes of a device that a script has written whole, and whose new elements are not computed yet. They are
/// evaluated together: with the next evaluation on the device, before a wait, and before one of them is written again.
/// So the writes of a loop's step are one plan, the same in each step.
class PendingWrites {
 public:
  /// True when the node can get new memory for the elements that are about to be written. Evaluates the writes before
  /// where the node was written since the last such step began, or where they are many or large.
  bool begin(Node& node);
  /// The pending node was written. Evaluates it where writes do not wait for each other.
  void add(Node& node);
  /// A plan has evaluated writes together with each other or with other nodes. Where such plans keep being new ones, as
  /// in a program that decides at random what it writes, each would take a compilation: then writes do not wait for a
  /// while.
  void note_plan(bool is_new);
  void remove(Node& node) noexcept;
  /// Handles, because evaluating a node allocates, and that may run the collector, which drops unreachable ones.
  std::vector<Array> held() const;
  /// Evaluates the nodes. Those that cannot be evaluated leave the list; the first such error is thrown.
  void evaluate();

 private:
  std::size_t bytes() const;

  std::vector<Node*> nodes_;
  std::uint64_t step_ = 1;
  std::uint32_t new_plans_ = 0;                  // less those that were known
  std::uint64_t alone_ = 0, next_pause_ = 2048;  // writes that do not wait: how many are left, and of the next time
};

}  // namespace gpulua
