#include "src/device/cpu/simd/lane_pattern_analysis.h"

#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/PatternMatch.h>

#include <bit>
#include <cstddef>

#include "src/device/cpu/abi/abi.h"
#include "src/device/cpu/simd/markers.h"
#include "src/device/cpu/simd/runtime_calls.h"

namespace gpulua::cpu::simd {
namespace {

constexpr unsigned half_lane_bits = 4;
constexpr unsigned zeros_of_zero = 64;

/// The zeros at the end of the number of a warp's first thread.
unsigned lane_bits() {
  return static_cast<unsigned>(std::countr_zero(lane_count()));
}

}  // namespace

LanePatterns::LanePatterns(const llvm::Function& function, Divergence& divergence, WarpLayout layout)
    : divergence_(divergence), data_(function.getParent()->getDataLayout()), layout_(layout) {
  for (const llvm::Argument& argument : function.args()) patterns_[&argument] = LanePattern::uniform();
  find_patterns(divergence);
  // What is left depends on undefined values, which may be the same in all lanes, perhaps among others: a loop that
  // sets some bits of a variable in each turn, and none before the first.
  for (auto& [value, pattern] : patterns_)
    if (!pattern.is_known()) pattern = LanePattern::uniform();
  find_patterns(divergence);
}

void LanePatterns::find_patterns(Divergence& divergence) {
  auto diverges = [this](const llvm::Instruction* branch) { return !(*this)(branch->getOperand(0)).is_uniform(); };
  // Patterns only move towards varying and branches only become divergent, so this ends.
  for (bool changed = true; changed;) {
    changed = false;
    divergence.update([&](const llvm::Instruction* branch) {
      LanePattern pattern = (*this)(branch->getOperand(0));
      return pattern.is_known() && diverges(branch);
    });
    for (Block* block : divergence.order()) {
      for (const llvm::Instruction& instruction : *block) {
        if (instruction.getType()->isVoidTy()) continue;
        LanePattern& kept = patterns_[&instruction];
        LanePattern found = of_instruction(instruction);
        if (kept.is_known()) found = meet(kept, found);
        if (found == kept) continue;
        kept = found;
        changed = true;
      }
    }
  }
}

LanePattern LanePatterns::operator()(const llvm::Value* value) const {
  if (const auto* constant = llvm::dyn_cast<llvm::Constant>(value))
    return LanePattern::uniform(trailing_zeros(*constant));
  auto found = patterns_.find(value);
  return found == patterns_.end() ? LanePattern{} : found->second;
}

LanePattern LanePatterns::of_phi(const llvm::PHINode& phi) const {
  Block* block = phi.getParent();
  bool same = phi.hasConstantValue() != nullptr;
  bool outlives = false;  // lanes bring values of different iterations
  for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
    Block* from = phi.getIncomingBlock(i);
    const auto* value = llvm::dyn_cast<llvm::Instruction>(phi.getIncomingValue(i));
    if (value != nullptr && divergence_.leaves_divergent_loop(from, block) &&
        divergence_.loops().getLoopFor(value->getParent()) != divergence_.loops().getLoopFor(block))
      outlives = true;
  }
  if (outlives || (!divergence_.enters_by_one_edge(block) && !same)) return LanePattern::varying();
  LanePattern pattern;
  for (const llvm::Value* value : phi.incoming_values())
    if (!llvm::isa<llvm::UndefValue>(value)) pattern = meet(pattern, (*this)(value));
  bool scalar = phi.getType()->isIntegerTy() || phi.getType()->isPointerTy();
  return scalar || pattern.is_uniform() || !pattern.is_known() ? pattern : LanePattern::varying();
}

LanePattern LanePatterns::of_binary(const llvm::BinaryOperator& binary) const {
  const LanePattern a = (*this)(binary.getOperand(0)), b = (*this)(binary.getOperand(1));
  return a.is_known() && b.is_known() ? binary_result(binary, a, b) : LanePattern();
}

bool LanePatterns::extends_at_base(const llvm::Value* value, bool is_signed) const {
  const LanePattern pattern = (*this)(value);
  if (!pattern.is_known() || pattern.is_varying()) return false;
  const unsigned bits = value->getType()->getIntegerBitWidth();
  return pattern.is_uniform_per_half() || pattern.offsets_fit_below(is_signed ? bits - 1 : bits) ||
         is_thread_number(value);
}

/// True for a load of the context's field at `offset`.
static bool is_context_field(const llvm::Value* value, std::size_t offset) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(value);
  return load != nullptr && context_offset(load->getPointerOperand(), *load->getFunction()) == offset;
}

/// True iff the value is threadIdx on an axis, or blockIdx * blockDim + threadIdx. Neither wraps within a warp, signed
/// or unsigned: abi.h's BlockRule and gpulua_run_rows see to it.
bool LanePatterns::is_thread_number(const llvm::Value* value) const {
  using namespace llvm::PatternMatch;
  auto is_thread = [](const llvm::Value* v) {
    return marker(v) == Marker::thread_x || marker(v) == Marker::thread_y || marker(v) == Marker::thread_z;
  };
  if (is_thread(value)) return true;
  const llvm::Value *a, *b, *index, *size;
  if (!match(value, m_Add(m_Value(a), m_Value(b)))) return false;
  if (is_thread(a)) std::swap(a, b);
  if (!is_thread(b) || !match(a, m_Mul(m_Value(index), m_Value(size)))) return false;
  const unsigned axis = marker(b) == Marker::thread_x ? 0 : marker(b) == Marker::thread_y ? 1 : 2;
  const std::size_t block = offsetof(ThreadContext, block) + axis * sizeof(unsigned);
  const std::size_t block_size = offsetof(ThreadContext, block_size) + axis * sizeof(unsigned);
  auto is_size = [&](const llvm::Value* v) {
    return axis == 0 ? marker(v) == Marker::block_x : is_context_field(v, block_size);
  };
  return (is_context_field(index, block) && is_size(size)) || (is_context_field(size, block) && is_size(index));
}

bool LanePatterns::accesses_row(const llvm::Instruction& instruction) const {
  const llvm::Value* address = llvm::getLoadStorePointerOperand(&instruction);
  return address != nullptr && !(*this)(address).is_uniform();
}

LanePattern LanePatterns::extended(const llvm::Value* value, bool is_signed) const {
  const LanePattern pattern = (*this)(value);
  if (!pattern.is_known() || pattern.is_varying()) return pattern;
  const unsigned bits = value->getType()->getIntegerBitWidth();
  if (pattern.offsets_fit_below(is_signed ? bits - 1 : bits) || is_thread_number(value)) return pattern;
  if (pattern.is_uniform_per_half()) return pattern.per_half();
  const auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(value);
  if (binary == nullptr) return LanePattern::varying();
  const bool disjoint = binary->getOpcode() == llvm::Instruction::Or;  // other ones are varying
  const bool wraps = !disjoint && (!llvm::isa<llvm::OverflowingBinaryOperator>(binary) ||
                                   !(is_signed ? binary->hasNoSignedWrap() : binary->hasNoUnsignedWrap()));
  const auto* factor = llvm::dyn_cast<llvm::ConstantInt>(binary->getOperand(1));
  // sum_or_product() takes factors as signed.
  const bool unsigned_factor =
      binary->getOpcode() == llvm::Instruction::Mul && factor != nullptr && !is_signed && factor->isNegative();
  if (wraps || unsigned_factor) return LanePattern::varying();
  return sum_or_product(*binary, extended(binary->getOperand(0), is_signed),
                        extended(binary->getOperand(1), is_signed));
}

LanePattern LanePatterns::of_cast(const llvm::CastInst& cast) const {
  const llvm::Value* operand = cast.getOperand(0);
  const LanePattern pattern = (*this)(operand);
  if (!pattern.is_known() || pattern.is_varying()) return pattern;
  if (pattern.is_uniform()) return LanePattern::uniform(cast.getType()->isIntegerTy() ? pattern.zeros : 0);
  // Strides have 64 bits.
  if (cast.getType()->isIntegerTy() && cast.getType()->getIntegerBitWidth() > 64) return LanePattern::varying();
  switch (cast.getOpcode()) {
    case llvm::Instruction::Trunc:
    case llvm::Instruction::PtrToInt:
    case llvm::Instruction::IntToPtr:
    case llvm::Instruction::AddrSpaceCast:
      return cast.getType()->isIntegerTy(1) ? LanePattern::varying() : pattern;
    case llvm::Instruction::SExt:
      return extended(operand, true);
    case llvm::Instruction::ZExt: {
      const LanePattern result = extended(operand, false);
      return result.is_varying() && cast.hasNonNeg() ? extended(operand, true) : result;
    }
    default:
      return LanePattern::varying();
  }
}

LanePattern LanePatterns::of_address(const llvm::GetElementPtrInst& address) const {
  LanePattern result = (*this)(address.getPointerOperand());
  for (auto type = llvm::gep_type_begin(address); type != llvm::gep_type_end(address); ++type) {
    // The address computation sign-extends a narrower index.
    const llvm::Value* index = type.getOperand();
    const bool narrow = !type.isStruct() && index->getType()->getIntegerBitWidth() != 64;
    const LanePattern pattern = narrow ? extended(index, true) : (*this)(index);
    if (pattern.is_uniform()) continue;
    result = result + pattern * static_cast<std::int64_t>(type.getSequentialElementStride(data_).getFixedValue());
  }
  result.zeros = 0;
  return result;
}

/// An operation whose result depends on its operands alone: lanes with equal operands have equal results.
LanePattern LanePatterns::of_pure_operation(const llvm::User& operation) const {
  LanePattern result = LanePattern::uniform();
  for (const llvm::Use& operand : operation.operands()) {
    if (llvm::isa<llvm::Function>(operand)) continue;
    const LanePattern pattern = (*this)(operand);
    if (!pattern.is_known()) return {};
    if (!pattern.is_uniform_per_half() || !operation.getType()->isIntegerTy()) return LanePattern::varying();
    if (!pattern.is_uniform()) result = LanePattern::half_uniform();
  }
  return result;
}

LanePattern LanePatterns::of_call(const llvm::CallInst& call) const {
  LanePattern result = LanePattern::uniform();
  switch (marker(&call)) {
    case Marker::thread_x:
      if (layout_ == WarpLayout::half_rows) return {LanePattern::Kind::affine, 1, 0, zeros_of_zero};
      return layout_ == WarpLayout::any ? LanePattern::varying()
                                        : LanePattern::affine(1, layout_ == WarpLayout::row_chunk ? 0 : lane_bits());
    case Marker::thread_y:
      if (layout_ == WarpLayout::half_rows) return {LanePattern::Kind::affine, 0, 1, 1};
      return layout_ == WarpLayout::any ? LanePattern::varying() : LanePattern::uniform();
    case Marker::thread_z:
      return layout_ == WarpLayout::any ? LanePattern::varying() : LanePattern::uniform();
    case Marker::block_x:
      return LanePattern::uniform(layout_ == WarpLayout::half_rows ? half_lane_bits : 0);
    case Marker::linear:
      return LanePattern::affine(1, lane_bits());
    case Marker::lane:
      return LanePattern::affine(1, zeros_of_zero);
    case Marker::private_memory:
      return LanePattern::affine(llvm::cast<llvm::ConstantInt>(call.getArgOperand(1))->getSExtValue());
    case Marker::ballot:
      // The result holds the lanes of the mask, so it varies with the mask.
      result = (*this)(call.getArgOperand(0));
      return !result.is_known() || result.is_uniform() ? result : LanePattern::varying();
    case Marker::activemask:
    case Marker::all_lanes:
    case Marker::whole_warp:
    case Marker::first_lane:
    case Marker::first_running:
    case Marker::consecutive:
    case Marker::barrier_count:
      return LanePattern::uniform();
    case Marker::shuffle: {
      LanePattern value = (*this)(call.getArgOperand(1)), lane = (*this)(call.getArgOperand(2));
      if (!value.is_known() || !lane.is_known()) return {};
      return lane.is_uniform() || value.is_uniform() ? LanePattern::uniform() : LanePattern::varying();
    }
    default:
      break;
  }
  if (llvm::isa<llvm::MinMaxIntrinsic>(call)) return of_pure_operation(call);
  for (const llvm::Use& argument : call.args()) {
    const LanePattern pattern = (*this)(argument);
    if (!pattern.is_known()) return {};
    if (!pattern.is_uniform()) result = LanePattern::varying();
  }
  // A call whose result may change from call to call runs once for each lane.
  return call.doesNotAccessMemory() || llvm::isa<llvm::IntrinsicInst>(call) ? result : LanePattern::varying();
}

LanePattern LanePatterns::of_instruction(const llvm::Instruction& instruction) const {
  if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) return of_phi(*phi);
  if (const auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(&instruction)) return of_binary(*binary);
  if (const auto* cast = llvm::dyn_cast<llvm::CastInst>(&instruction)) return of_cast(*cast);
  if (const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction)) return of_address(*address);
  if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) return of_call(*call);
  if (llvm::isa<llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(instruction)) return LanePattern::varying();
  if (llvm::isa<llvm::FreezeInst>(instruction)) return (*this)(instruction.getOperand(0));
  if (llvm::isa<llvm::SelectInst>(instruction)) {
    const LanePattern condition = (*this)(instruction.getOperand(0));
    const LanePattern a = (*this)(instruction.getOperand(1)), b = (*this)(instruction.getOperand(2));
    if (!condition.is_known() || !a.is_known() || !b.is_known()) return {};
    return condition.is_uniform() ? meet(a, b) : of_pure_operation(instruction);
  }
  if (llvm::isa<llvm::ICmpInst>(instruction)) return of_pure_operation(instruction);
  LanePattern result = LanePattern::uniform();
  for (const llvm::Use& operand : instruction.operands()) {
    const LanePattern pattern = (*this)(operand);
    if (!pattern.is_known()) return {};
    if (!pattern.is_uniform()) result = LanePattern::varying();
  }
  return result;
}

}  // namespace gpulua::cpu::simd
