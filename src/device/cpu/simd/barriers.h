#pragma once

// The block's barriers in a kernel that runs warp by warp: a warp arrives as one, without the lanes that have no
// barrier ahead of them any more.

#include "src/device/cpu/simd/shape.h"
#include "src/device/cpu/simd/structure.h"

namespace gpulua::cpu::simd {

class Barriers {
 public:
  Barriers(llvm::Function& function, const Shapes& shapes);
  bool any() const { return !ahead_.empty(); }
  /// True iff, at each barrier, all lanes are there that will ever be at a barrier again.
  bool lanes_arrive_together() const { return together_; }
  /// True iff lanes that go along the edge will be at no barrier any more while others may.
  bool lanes_leave(Block* from, Block* to) const { return leaving_.contains({from, to}); }

 private:
  std::set<Block*> ahead_;  // from where a barrier can be reached
  std::set<std::pair<Block*, Block*>> leaving_;
  bool together_ = true;
};

}  // namespace gpulua::cpu::simd
