#pragma once

// A step that is ready to run, for all nodes of one structure: its variant chosen, its kernel compiled, its arguments
// laid out.

#include <memory>
#include <span>
#include <vector>

#include "src/core/step_arguments.h"

namespace gpulua {

class PreparedStep {
 public:
  /// `step` is of a plan for `roots`.
  PreparedStep(const Step& step, std::span<const Root> roots, OpenDevice& device);

  bool compresses() const { return compresses_; }
  /// `nodes` and `roots` are of the structure of those that the step was planned for.
  void run(const Nodes& nodes, std::span<const Root> roots, OpenDevice& device);
  /// As run, for a step that compresses: gives how many elements there are, once it is done.
  std::int64_t compress(const Nodes& nodes, std::span<const Root> roots, OpenDevice& device);

 private:
  struct Output {
    std::uint32_t node;               // its number
    std::optional<std::size_t> root;  // the one whose target is written; without, a new array becomes the node's
    std::size_t bytes;                // of that array
  };

  /// `made`: the memory of the new arrays.
  void launch(const Nodes& nodes, std::span<const Root> roots, std::span<const BufferRef> made,
              const BufferRef& scratch, OpenDevice& device);
  /// The shared memory of one launch, null where it needs none.
  BufferRef make_scratch(OpenDevice& device) const;

  bool compresses_;
  std::shared_ptr<Kernel> kernel_;  // null: there is nothing to compute
  StepArguments arguments_;
  std::vector<void*> pointers_;  // to the arguments
  double moved_bytes_ = 0;
  std::vector<Output> outputs_;
};

}  // namespace gpulua
