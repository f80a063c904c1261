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
  /// The pending node was written.
  void add(Node& node);
  void remove(Node& node) noexcept;
  /// Handles, because evaluating a node allocates, and that may run the collector, which drops unreachable ones.
  std::vector<Array> held() const;
  /// Evaluates the nodes. Those that cannot be evaluated leave the list; the first such error is thrown.
  void evaluate();

 private:
  std::size_t bytes() const;

  std::vector<Node*> nodes_;
  std::uint64_t step_ = 1;
};

}  // namespace gpulua
