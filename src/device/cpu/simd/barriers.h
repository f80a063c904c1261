#pragma once

// The barriers of the block in a kernel that runs warp by warp. All lanes of a warp arrive at a barrier together,
// except for those that have no barrier ahead of them.

#include "src/device/cpu/simd/divergence.h"
#include "src/device/cpu/simd/lane_pattern_analysis.h"

namespace gpulua::cpu::simd {

class Barriers {
 public:
  Barriers(llvm::Function& function, const LanePatterns& patterns);
  bool any() const { return !ahead_.empty(); }
  /// True iff every lane with a barrier ahead of it arrives whenever one of them does.
  bool lanes_arrive_together() const { return together_; }
  /// True iff no barrier follows the edge, while lanes that do not take it may still reach one.
  bool lanes_leave(Block* from, Block* to) const { return leaving_.contains({from, to}); }

 private:
  std::set<Block*> ahead_;  // the blocks from which a barrier can be reached
  std::set<std::pair<Block*, Block*>> leaving_;
  bool together_ = true;
};

}  // namespace gpulua::cpu::simd
