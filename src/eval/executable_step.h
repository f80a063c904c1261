#pragma once

// A step that is ready to run for all nodes of one structure: its kernel is compiled and its arguments are laid out.

#include <memory>
#include <span>
#include <vector>

#include "src/eval/rolls.h"
#include "src/eval/step_arguments.h"

namespace gpulua {

/// The nodes of a plan, by number, for a run of its steps.
class StepNodes {
 public:
  explicit StepNodes(const NodeNumbers& nodes) : nodes_(nodes.all()) {}
  /// For a replay: nodes in memory, and the operations of those that are numbers or gathers.
  StepNodes(std::span<Node* const> nodes, std::span<const Pending> pending) : nodes_(nodes), pending_(pending) {}

  Node& operator[](std::uint32_t number) const { return *nodes_[number]; }
  const Pending& pending(std::uint32_t number) const {
    return pending_.empty() ? *nodes_[number]->pending() : pending_[number];
  }

 private:
  std::span<Node* const> nodes_;
  std::span<const Pending> pending_;
};

class ExecutableStep {
 public:
  /// `step` belongs to a plan for `roots`, `nodes` comes from collect(roots). A step that copies, or has nothing to
  /// compute, has no kernel.
  ExecutableStep(const Step& step, std::span<const Root> roots, const NodeNumbers& nodes,
                 std::shared_ptr<Kernel> kernel, StepArguments arguments);

  /// Memory that one run writes in addition to the targets.
  struct Memory {
    boost::container::small_vector<BufferRef, 4> made;  // of the new arrays
    BufferRef scratch;                                  // shared by the blocks; null where they need none
  };
  /// Allocating may run the collector, and with it a script.
  Memory allocate(OpenDevice& device) const;
  /// `roots` have the structure for which the step was planned; `nodes` comes from collect(roots). Afterwards
  /// `memory.made` holds the elements of the nodes made(). A step that compresses waits and gives the number of
  /// elements.
  std::int64_t run(const StepNodes& nodes, std::span<const Root> roots, const Memory& memory, OpenDevice& device);
  /// The numbers of the nodes that get new arrays.
  const std::vector<std::uint32_t>& made() const { return made_; }

 private:
  struct Output {
    std::uint32_t node;               // number of the node
    std::optional<std::size_t> root;  // set: its target is written; else the node gets a new array
    std::size_t bytes;                // of the new array
    // Numbers of the nodes in memory, and of the gathers, from which the elements are computed.
    std::vector<std::uint32_t> sources, gathers;
  };
  /// The check of a gather's index arrays.
  struct GatherCheck {
    std::uint32_t node;
    CheckRef check;
  };
  using GatherChecks = boost::container::small_vector<GatherCheck, 2>;

  void copy(const StepNodes& nodes, Buffer& made, OpenDevice& device) const;
  void launch(const StepNodes& nodes, std::span<const Root> roots, const Memory& memory, OpenDevice& device);
  std::int64_t compress(const StepNodes& nodes, std::span<const Root> roots, const Memory& memory, OpenDevice& device);
  /// Makes the written buffers depend on the checks of their sources.
  void guard(const StepNodes& nodes, std::span<const Root> roots, const Memory& memory,
             const GatherChecks& checks) const;
  /// True when the step writes all elements of the root's target and reads none of its buffer.
  bool overwrites(const Root& root, const StepNodes& nodes) const;

  bool compresses_;
  std::vector<RolledPart> copies_;  // of the first output, from its source
  std::shared_ptr<Kernel> kernel_;  // null: there is nothing to compute
  StepArguments arguments_;
  std::vector<void*> pointers_;  // one to each argument
  double moved_bytes_ = 0;
  std::vector<Output> outputs_;
  std::vector<std::uint32_t> made_;
};

}  // namespace gpulua
