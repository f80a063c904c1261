#pragma once

// The heart of the SIMD engine: a function for one thread becomes a function for a warp, with a vector of 32 for each
// value that varies between lanes and a mask of the lanes that run for each block.

#include <llvm/IR/IRBuilder.h>

#include <functional>
#include <map>
#include <optional>
#include <set>

#include "src/device/cpu/simd/barriers.h"
#include "src/device/cpu/simd/divergence.h"
#include "src/device/cpu/simd/lane_pattern_analysis.h"
#include "src/device/cpu/simd/math_library.h"

namespace gpulua::cpu::simd {

struct WidenOptions {
  WarpLayout layout = WarpLayout::any;
  const MathLibrary* math = nullptr;
};

/// `scalar` is prepared (prepare.h); its first parameter is the ThreadContext. Returns the function for a warp, with
/// the same parameters. Call can_widen() first.
llvm::Function* widen(llvm::Function& scalar, const WidenOptions& options);

/// Of src/device/cpu/headers/gpulua_warps.h: what a widened function calls for Marker::fail.
inline constexpr const char* fail_function = "gpulua_fail_in_lane";

class Widener {
 public:
  Widener(llvm::Function& scalar, Divergence& divergence, const LanePatterns& patterns, const WidenOptions& options);
  llvm::Function* run();

 private:
  using Builder = llvm::IRBuilder<>;
  /// A phi, or the mask of a block, on its way from the ends of the predecessors.
  using Slot = llvm::AllocaInst;

  // ---- widen.cpp: control flow ----
  void make_slots();
  void make_entry();
  void emit_block(Block* block);
  void emit_guard(Block* block);
  void emit_terminator(Block* block);
  void emit_uniform_branch(Block* block, const llvm::BranchInst& branch);
  void emit_divergent_branch(Block* block, const llvm::BranchInst& branch);
  /// Stores what the edge brings: the mask and the phis of `to`. `mask`: the lanes that take the edge.
  void pass_edge(Block* from, Block* to, llvm::Value* mask);
  /// Goes on to the first of the pending blocks.
  void go_on(std::set<int> pending);
  llvm::BasicBlock* new_block(const llvm::Twine& name);
  void find_guards();

  // ---- widen_values.cpp ----
  llvm::Value* scalar(const llvm::Value* value);  // of lane 0, or of all
  llvm::Value* second(const llvm::Value* value);  // of lane 16
  llvm::Value* base(const llvm::Value* value, unsigned half) { return half == 0 ? scalar(value) : second(value); }
  llvm::Value* vector(const llvm::Value* value);
  llvm::Value* offsets(llvm::Type* element, const LanePattern& pattern);
  llvm::Value* join_halves(Builder& builder, llvm::Value* first, llvm::Value* second);
  llvm::Value* extended(const llvm::Value* value, llvm::Type* type, bool is_signed, unsigned half);
  void insert_after(Builder& builder, llvm::Value* made);
  bool is_varying(const llvm::Value* value) const { return patterns_(value).is_varying(); }
  bool is_uniform(const llvm::Value* value) const { return patterns_(value).is_uniform(); }

  // ---- masks, of widen.cpp ----
  llvm::Value* mask() const { return masks_.at(divergence_.mask_owner(block_)); }
  bool mask_is_full() const;
  llvm::Value* any(llvm::Value* mask);
  llvm::Value* bits_of(llvm::Value* mask);
  llvm::Value* count(llvm::Value* mask);
  llvm::AllocaInst* local(llvm::Type* type, const llvm::Twine& name);

  // ---- widen_instruction.cpp ----
  void emit_instruction(const llvm::Instruction& instruction);
  void emit_scalar(const llvm::Instruction& instruction);
  llvm::Value* emit_base(const llvm::Instruction& instruction, unsigned half);
  llvm::Value* emit_vector(const llvm::Instruction& instruction);
  llvm::Value* emit_bound(const llvm::CmpInst& compare);
  llvm::Value* emit_all(const llvm::ICmpInst& compare);
  llvm::Value* emit_binary(const llvm::BinaryOperator& binary);
  llvm::Value* emit_division(llvm::Instruction::BinaryOps opcode, llvm::Value* a, llvm::Value* b);
  llvm::Value* emit_address(const llvm::GetElementPtrInst& address);
  llvm::Value* emit_offsets(const llvm::GetElementPtrInst& address, bool narrow);

  struct AddressRow;

  // ---- widen_memory.cpp ----
  llvm::Value* emit_load(const llvm::LoadInst& load);
  llvm::Value* advance(const llvm::Value* index, const llvm::Loop& loop);
  bool is_fixed(const llvm::Value* value, const llvm::Loop& loop) const;
  void emit_prefetch(const llvm::LoadInst& load, const AddressRow& row);
  void emit_prefetch_of_blocks(const llvm::LoadInst& load, const AddressRow& row);
  void prefetch(llvm::Value* base, std::int64_t offset, unsigned cache);
  void emit_store(const llvm::StoreInst& store);
  llvm::Value* emit_gather(const llvm::LoadInst& load);
  llvm::Value* emit_narrow_gather(llvm::Type* type, llvm::Value* addresses);
  void emit_scatter(llvm::Value* values, const llvm::Value* address, llvm::Align align);

  // ---- widen_strided.cpp ----
  unsigned elements_apart(const llvm::Value* address, llvm::Type* type) const;
  llvm::Value* mask_of_chunk(unsigned first, unsigned apart);
  llvm::Value* emit_strided_load(llvm::Type* type, const llvm::Value* address, unsigned apart);
  void emit_strided_store(llvm::Value* values, const llvm::Value* address, unsigned apart);

  // ---- widen_strips.cpp ----
  llvm::Value* strip_row(const llvm::Value* own, unsigned turn, unsigned half);
  void emit_load_strip(const llvm::CallInst& call);
  void emit_store_strip(const llvm::CallInst& call);

  // ---- widen_atomic.cpp ----
  llvm::Value* emit_atomic(const llvm::AtomicRMWInst& atomic);
  llvm::Value* emit_together(const llvm::AtomicRMWInst& atomic);
  llvm::Value* emit_flush(const llvm::CallInst& call);

  // ---- widen_lanes.cpp ----
  class Row;
  struct Operands;
  /// `instruction` once for each active lane, with the lane's operands; its results.
  llvm::Value* emit_for_each_lane(const llvm::Instruction& instruction);
  void emit_for_each_lane(llvm::Value* lanes, const std::function<void(llvm::Value* lane)>& body);
  /// Brings to memory what a lane's own value is made of.
  void write_rows(const llvm::Value* value, Operands& operands);
  /// A lane's own value. The lane is a constant where there are no rows.
  llvm::Value* of_lane(const llvm::Value* value, llvm::Value* lane, Operands& operands);
  llvm::Value* element(const llvm::Value* value, unsigned lane, Operands& operands);

  // ---- widen_rows.cpp: rows of addresses ----
  /// Addresses that are `bytes` apart in each half of the warp, or the same.
  struct AddressRow {
    LanePattern pattern;
    llvm::Value* bases[2] = {};    // the second one's: only where the pattern is not is_consecutive()
    llvm::Value* holds = nullptr;  // null: always; else true iff these are the addresses
  };
  /// The value of the one if `holds`, or where that is null, else of the other; null where they have none.
  llvm::Value* emit_either(llvm::Value* holds, const std::function<llvm::Value*()>& together,
                           const std::function<llvm::Value*()>& apart);
  std::optional<AddressRow> find_row(const llvm::Value* address, std::int64_t bytes);
  const llvm::Value* expected_value(const llvm::Value* value) const;
  llvm::Value* chooses_expected(const llvm::Value* choice);
  llvm::Value* lanes_choose_expected(const llvm::Value* choice, unsigned half, bool alone);
  LanePattern assumed_pattern(const llvm::Value* value, unsigned depth) const;
  llvm::Value* assumed_base(const llvm::Value* value, unsigned half, bool alone, llvm::Value*& holds);
  llvm::Value* wraps_nowhere(llvm::Value* base, const LanePattern& pattern, bool alone, bool is_signed);
  llvm::Value* emit_row_load(llvm::Type* type, const AddressRow& row, llvm::Align align);
  void emit_row_store(llvm::Value* values, const AddressRow& row, llvm::Align align);
  llvm::Value* emit_half_load(llvm::Type* type, const AddressRow& row, llvm::Align align, unsigned half);
  llvm::Value* half_of(llvm::Value* whole, unsigned half);

  // ---- widen_walks.cpp ----
  struct Induction {
    /// Of half a warp: the least counter of the lanes that started; what each lane's is more than that; and the half's
    /// bits if the lanes are near each other, else none.
    template <class Kind>
    struct Row {
      Kind *base, *offsets, *near;
    };
    Row<Slot> slots[2];
    Row<llvm::Value> rows[2];  // in the turn
  };
  const llvm::PHINode* find_induction(const llvm::LoadInst& load) const;
  void make_inductions();
  void read_induction(Induction& walk);
  void pass_induction(const llvm::PHINode& counter, Block* from, llvm::Value* mask);
  llvm::Value* emit_induction_load(const llvm::LoadInst& load, const Induction& walk);

  // ---- widen_call.cpp ----
  void emit_call(const llvm::CallInst& call);
  llvm::Value* emit_marker(const llvm::CallInst& call);
  llvm::Value* emit_vector_call(const llvm::CallInst& call);
  llvm::Value* emit_saturated(llvm::Value* number, llvm::Type* type, bool is_signed);
  llvm::Value* emit_fail(const llvm::CallInst& call);
  llvm::Value* emit_shuffle(const llvm::CallInst& call);
  llvm::Value* emit_barrier(const llvm::CallInst& call);
  llvm::Value* thread_index(unsigned axis);
  /// A call of what barrier_splitting.h knows.
  llvm::CallInst* call_later(const char* name, llvm::Type* result, const std::vector<llvm::Value*>& arguments);

  llvm::Function& from_;
  llvm::Function* to_;
  Divergence& divergence_;
  const LanePatterns& patterns_;
  const WidenOptions& options_;
  const llvm::DataLayout& layout_;
  Barriers barriers_;
  Builder builder_, entry_;  // entry_: ahead of everything
  Block* block_ = nullptr;   // being emitted

  std::map<const llvm::Value*, llvm::Value*> scalars_, seconds_, vectors_;
  std::map<const llvm::PHINode*, Slot*> phi_slots_, second_slots_;
  std::map<const llvm::PHINode*, Induction> inductions_;
  std::map<Block*, Slot*> mask_slots_;
  std::map<Block*, llvm::Value*> masks_;  // of roots
  std::map<Block*, llvm::BasicBlock*> heads_;
  std::map<int, std::set<int>> pending_;  // blocks, by index, that lanes may wait to run when a block starts
  std::set<int> now_;                     // the same, of the block being emitted
  std::set<Block*> guarded_;              // roots
  std::vector<Slot*> slots_;
  llvm::Value* thread_index_[3] = {};  // of all lanes, where they are vectors
};

llvm::Type* widened(llvm::Type* type);
/// How the type is moved between memory and registers: halves as integers of their size.
llvm::Type* moved_as(llvm::Type* type);
/// For each lane, what a single call computes of a context: the offsets of ThreadContext's fields are abi.h's.
llvm::Value* context_field(llvm::IRBuilder<>& builder, llvm::Value* context, std::size_t offset, llvm::Type* type);

/// Calls the runtime's service at that offset in Services; the context is the first argument.
llvm::Value* call_service(llvm::IRBuilder<>& builder, std::size_t offset, llvm::Type* result,
                          const std::vector<llvm::Value*>& arguments);

}  // namespace gpulua::cpu::simd
