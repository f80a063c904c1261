#pragma once

// Plans that are kept. Most expressions that are evaluated are of a structure that was evaluated before: their plan,
// the variants of its kernels and the arguments are what they were then, but for addresses and numbers.

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "src/core/prepared_step.h"

namespace gpulua {

/// What evaluating roots of one structure takes.
struct PreparedPlan {
  // A thread of the last step could read what another one has written: an operand has elements of the target elsewhere.
  bool is_hazard = false;
  std::vector<PreparedStep> steps;                // none where there is a hazard
  std::vector<std::shared_ptr<const void>> rows;  // operations and reductions of scripts, which kernels are known by
};

class PlanCache {
 public:
  /// The plan for the roots, all of one device; `nodes` are what collect gives for them. Evaluates nothing.
  std::shared_ptr<PreparedPlan> find(std::span<const Root> roots, const Nodes& nodes);

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
