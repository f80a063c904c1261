#pragma once

// Plans that are kept. Most expressions that are evaluated are of a structure that was evaluated before: their plan,
// the variants of its kernels and the arguments are what they were then, but for addresses and numbers.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "src/eval/executable_step.h"

namespace gpulua {

/// What evaluating roots of one structure takes.
struct PreparedPlan {
  // A thread of the last step could read what another one has written: an operand has elements of the target elsewhere.
  bool is_hazard = false;
  std::vector<PreparedStep> steps;                // none where there is a hazard
  std::vector<std::shared_ptr<const void>> rows;  // operations and reductions of scripts, which kernels are known by

  /// Runs the steps, for nodes and roots of the plan's structure; gives what the last one does. Nothing when a script
  /// that the collector ran has evaluated nodes meanwhile: then the plan may be theirs no more, and another one has to
  /// be found.
  std::optional<std::int64_t> run(const Nodes& nodes, std::span<const Root> roots, OpenDevice& device);
};

class PlanCache {
 public:
  /// The plan for the roots, all of one device; `nodes` are what collect gives for them. Evaluates nothing.
  std::shared_ptr<PreparedPlan> find(std::span<const Root> roots, const Nodes& nodes);

  /// How many nodes of the device have got elements.
  std::uint64_t resolved = 0;

 private:
  /// Equal for roots whose plans differ in addresses and numbers only.
  using Structure = std::vector<std::uint64_t>;
  struct Hash {
    std::size_t operator()(const Structure& structure) const;
  };

  Structure structure_;  // of the roots looked for; kept for its memory
  std::unordered_map<Structure, std::shared_ptr<PreparedPlan>, Hash> plans_;
};

}  // namespace gpulua
