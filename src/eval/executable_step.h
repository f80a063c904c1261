#pragma once

// A step that is ready to run, for all nodes of one structure: its variant chosen, its kernel compiled, its arguments
// laid out.

#include <memory>
#include <span>
#include <vector>

#include "src/eval/step_arguments.h"

namespace gpulua {

class PreparedStep {
 public:
  /// `step` is of a plan for `roots`.
  PreparedStep(const Step& step, std::span<const Root> roots, OpenDevice& device);

  /// What a run writes besides its targets.
  struct Memory {
    boost::container::small_vector<BufferRef, 4> made;  // of the new arrays
    BufferRef scratch;                                  // that the blocks share; null where they need none
  };
  /// To make it may run the collector, and that a script.
  Memory allocate(OpenDevice& device) const;
  /// `nodes` and `roots` are of the structure of those that the step was planned for. A step that compresses waits, and
  /// gives how many elements there are.
  std::int64_t run(const Nodes& nodes, std::span<const Root> roots, Memory memory, OpenDevice& device);

 private:
  struct Output {
    std::uint32_t node;               // its number
    std::optional<std::size_t> root;  // the one whose target is written; without, a new array becomes the node's
    std::size_t bytes;                // of that array
    // What its elements come from: nodes in memory, and operations that read by index arrays, by their numbers.
    std::vector<std::uint32_t> sources, gathers;
  };
  /// What tells whether the index arrays of a gather are in range.
  struct GatherCheck {
    std::uint32_t node;
    CheckRef check;
  };
  using GatherChecks = boost::container::small_vector<GatherCheck, 2>;

  void launch(const Nodes& nodes, std::span<const Root> roots, const Memory& memory, OpenDevice& device);
  std::int64_t compress(const Nodes& nodes, std::span<const Root> roots, const Memory& memory, OpenDevice& device);
  /// Lets what the outputs are written to depend on the checks that their sources do.
  void guard(const Nodes& nodes, std::span<const Root> roots, const Memory& memory, const GatherChecks& checks) const;
  /// True when all elements of the root's target are written, and none of its buffer read.
  bool overwrites(const Root& root, const Nodes& nodes) const;

  bool compresses_;
  std::shared_ptr<Kernel> kernel_;  // null: there is nothing to compute
  StepArguments arguments_;
  std::vector<void*> pointers_;  // to the arguments
  double moved_bytes_ = 0;
  std::vector<Output> outputs_;
};

}  // namespace gpulua
