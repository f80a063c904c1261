#pragma once

// Plans that are kept. Most expressions have a structure that was evaluated before. Then the plan, the schedules and
// the kernels are the same, and the arguments differ in addresses and numbers only.

#include <algorithm>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "src/eval/executable_step.h"

namespace gpulua {

/// A plan whose kernels are compiled and whose arguments are laid out.
struct ExecutablePlan : boost::intrusive_ref_counter<ExecutablePlan, boost::thread_unsafe_counter> {
  // A thread of the last step could read an element that another one has written: an operand shares memory with the
  // target. Such a plan has no steps.
  bool is_hazard = false;
  std::vector<ExecutableStep> steps;
  std::vector<std::shared_ptr<const void>> rows;  // of scripts' operations and reductions; the key has their addresses

  /// Keeps the rows that belong to scripts.
  void keep_rows(const NodeNumbers& nodes);
};

using ExecutablePlanRef = boost::intrusive_ptr<ExecutablePlan>;

/// True when running the step could read elements that it has written.
bool is_hazard(const Step& step);

/// The structure of roots, in words. It is equal for roots whose plans differ in addresses and numbers only.
using PlanKey = std::span<const std::uint64_t>;

class PlanCache {
 public:
  /// The key of the roots, which are of one device. It is valid until the next call. `nodes` comes from collect(roots).
  PlanKey key(std::span<const Root> roots, const NodeNumbers& nodes);
  /// The plan with that key, or null.
  ExecutablePlanRef find(PlanKey key) const;
  /// Keeps the plan, and gives it.
  ExecutablePlanRef insert(std::vector<std::uint64_t> key, ExecutablePlanRef plan);

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(PlanKey key) const;
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(PlanKey a, PlanKey b) const { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }
  };

  std::vector<std::uint64_t> words_;  // for the next call of key()
  std::unordered_map<std::vector<std::uint64_t>, ExecutablePlanRef, Hash, Equal> plans_;
};

}  // namespace gpulua
