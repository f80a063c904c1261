#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_set>
#include <vector>

#include "src/array/array_handle.h"
#include "src/array/recent_operations.h"

namespace gpulua {

class PendingNodes;

/// Keeps the pending expressions of a device at a size that compiles quickly. An expression grows without end where a
/// loop builds on its own results. Such a loop is cut between two of its steps, always at the same place: all values
/// that pass from one step to the next are evaluated together. So the same few kernels serve all steps.
class LoopCutter {
 public:
  /// Notes that the script made the pending node.
  void note(Node& node);
  /// Evaluates nodes if the pending node's expression has become too large.
  void limit(Node& node);
  /// The nodes are about to be evaluated. Where a loop is cut after each step, and the nodes contain more of its steps,
  /// these are evaluated first, by the kernel that serves the others.
  using Evaluate = std::function<void(std::span<const Array>)>;
  void finish_steps(std::span<Node* const> nodes, const Evaluate& evaluate);

 private:
  /// A value that an operation of the last two periods reads.
  struct Value {
    Node* node;
    std::uint64_t last_use;  // the number of the operation
  };

  /// The loop that was cut last.
  struct Loop {
    std::uint64_t place = 0;            // the number of the operation after which it was cut
    std::uint64_t period = 0;           // in operations
    std::uint64_t digest = 0;           // of the operations of a step, from the cut on
    bool every_step = false;            // it is cut after each step
    std::vector<std::uint64_t> ages{};  // of the values that were evaluated: how many operations before the cut
  };

  /// Cuts the loop that the script runs. False: there is no loop, or no value to evaluate.
  bool cut(const PendingNodes& pending);
  /// Evaluates the values that pass on after the operation with the number `place`. They are handles, because
  /// evaluating may run the collector.
  void cut_at(std::uint64_t place, std::span<const Array> carried, const Evaluate& evaluate);
  /// The number of the operation after which the loop is cut: one of the last period but one.
  std::uint64_t choose_place(std::span<const Value> values, std::uint64_t period);
  /// True when the script has made all operations of the step that follows the last cut.
  bool has_step() const;

  RecentOperations recent_;
  Loop loop_;
  bool evaluating_ = false;                   // steps of a loop
  std::uint64_t next_look_ = 0;               // the number of the operation that next looks for a loop
  std::unordered_set<std::uint64_t> places_;  // digests of the operations that followed a cut
};

}  // namespace gpulua
