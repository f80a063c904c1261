#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "src/array/array_handle.h"
#include "src/array/recent_operations.h"

namespace gpulua {

class PendingNodes;

/// Keeps the pending expressions of a device at a size that compiles quickly. An expression grows without end where a
/// loop builds on its own results. Such a loop is cut between two of its steps, always at the same place: all values
/// that pass from one step to the next are evaluated together. So the same few kernels serve all steps. What is done
/// depends on the operations of the expression, not on those before it, and a place that was found is kept: the same
/// loop is cut in the same way each time that it runs.
class LoopCutter {
 public:
  /// Notes that the script made the pending node.
  void note(Node& node);
  /// Evaluates nodes if the pending node's expression has become too large.
  void limit(Node& node);
  /// True while it evaluates what passes on from a step.
  bool cuts() const { return evaluating_; }
  /// The nodes are about to be evaluated. Where a loop is cut after each step, and the nodes contain more of its steps,
  /// these are evaluated first, by the kernel that serves the others.
  using Evaluate = std::function<void(std::span<const Array>)>;
  void finish_steps(std::span<Node* const> nodes, const Evaluate& evaluate);

 private:
  /// That an operation reads a pending value of an earlier one, by the numbers of both.
  struct Read {
    std::uint64_t value, reader;
    std::int64_t bytes;  // of the value
  };
  using Ages = std::vector<std::uint64_t>;  // of values: how many operations before the cut they were made

  /// The loop that was cut last.
  struct Loop {
    std::uint64_t place = 0;   // the number of the operation after which it was cut
    std::uint64_t period = 0;  // in operations
    std::uint64_t digest = 0;  // of the operations of a step, from the cut on
    bool every_step = false;   // it is cut after each step
    Ages ages{};               // of the values that pass on, less than a period
  };

  /// Cuts the loop that the script runs with the operations from `first` on. False: there is no loop, or no value to
  /// evaluate.
  bool cut(const PendingNodes& pending, std::uint64_t first);
  /// Evaluates the values that pass on at the loop's place. They are handles, because evaluating may run the
  /// collector.
  void cut_at_place(std::span<const Array> carried, const Evaluate& evaluate);
  /// True where an expression whose oldest operation is `first` may look for a loop.
  bool may_look(std::uint64_t first) const { return looked_ < first || recent_.last() >= next_look_; }
  /// True when the script has made all operations of the step that follows the last cut.
  bool has_step() const;
  /// What the operations from `first` on read.
  static std::vector<Read> find_reads(const PendingNodes& pending, std::uint64_t first);
  /// The bytes of the values that pass a place, by their ages, if the operations of a period, whose reads these are, go
  /// on repeating before and after.
  static std::map<std::uint64_t, std::int64_t> find_passing(std::span<const Read> reads, std::uint64_t place,
                                                            std::uint64_t period);
  /// The number of the operation after which the loop was cut before, in the last period but one; 0: it was not.
  std::uint64_t find_place(std::uint64_t period) const;
  /// The same where it was not: the place at which the fewest bytes pass on.
  std::uint64_t choose_place(std::span<const Read> reads, std::uint64_t period) const;
  /// The pending values that the operations after the cut need: those of the step before it, by their ages, and older
  /// ones that `reads` reads.
  std::vector<Array> find_carried(const PendingNodes& pending, std::span<const Read> reads) const;

  RecentOperations recent_;
  Loop loop_;
  bool evaluating_ = false;  // steps of a loop
  // Numbers of operations: of the last search for a loop, and the next; of the last one that was evaluated because its
  // expression was too large.
  std::uint64_t looked_ = 0, next_look_ = 0, evaluated_ = 0;
  std::unordered_map<std::uint64_t, Ages> places_;  // by the digest of the operations that followed a cut
};

}  // namespace gpulua
