#pragma once

// Regions: code with one entry. A copy of a region runs for lanes about which more is known.

#include <llvm/IR/Function.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include <optional>
#include <vector>

#include "src/device/cpu/simd/divergence.h"

namespace gpulua::cpu::simd {

/// Code with one entry, `head`, that goes on at `join`.
struct Region {
  llvm::BasicBlock* head = nullptr;
  llvm::BasicBlock* join = nullptr;
  std::vector<llvm::BasicBlock*> blocks;
  unsigned size = 0;  // copied_size()
};

/// What an instruction adds to the size of a copy: a call of a function counts as some.
unsigned copied_size(const llvm::Instruction& instruction);

/// The blocks that `head` dominates, but for the function's last and those from `end` on, which may be null. Nothing
/// where they go on at several places, leave the loop that `from` is in, or may not be copied: two calls of some
/// markers do not do what one does.
std::optional<Region> find_region(llvm::Function& function, const Divergence& divergence, llvm::BasicBlock* head,
                                  const llvm::BasicBlock* from, const llvm::BasicBlock* end = nullptr);

/// A copy of a region. Where `values` maps a value of the region to another one, connect() lets the copy use that.
class RegionCopy {
 public:
  RegionCopy(const Region& region, const char* suffix);

  llvm::ValueToValueMapTy& values() { return values_; }
  llvm::BasicBlock* head() { return llvm::cast<llvm::BasicBlock>(values_[region_.head]); }
  /// Lets `from` enter the copy. It goes on where the region does.
  void connect(llvm::BasicBlock* from);
  /// The same, but goes on at `latch`, which gets a phi for each one of the region's join. Returns them.
  std::vector<llvm::PHINode*> connect(llvm::BasicBlock* from, llvm::BasicBlock* latch);

 private:
  llvm::Value* mapped(llvm::Value* value);
  void enter(llvm::BasicBlock* from);
  /// Gives a phi the values that the copy has for those of the region's phi.
  void add_incoming(llvm::PHINode& phi, const llvm::PHINode& of_region);

  const Region& region_;
  llvm::ValueToValueMapTy values_;
  llvm::SmallVector<llvm::BasicBlock*> blocks_;
};

}  // namespace gpulua::cpu::simd
