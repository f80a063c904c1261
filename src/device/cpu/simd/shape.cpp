#include "src/device/cpu/simd/shape.h"

#include <llvm/ADT/bit.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/PatternMatch.h>

#include <algorithm>

#include "src/device/cpu/simd/markers.h"

namespace gpulua::cpu::simd {
namespace {

constexpr unsigned lane_bits = 5;
constexpr unsigned most_zeros = 64;

Shape meet(Shape a, Shape b) {
  if (a.kind == Shape::unknown) return b;
  if (b.kind == Shape::unknown) return a;
  if (a.is_varying() || b.is_varying() || a.stride != b.stride) return Shape::each();
  return Shape::affine(a.stride, std::min(a.zeros, b.zeros));
}

unsigned zeros_of(const llvm::Constant& constant) {
  const auto* integer = llvm::dyn_cast<llvm::ConstantInt>(&constant);
  if (integer == nullptr) return 0;
  return integer->isZero() ? most_zeros : std::min(integer->getValue().countr_zero(), most_zeros);
}

}  // namespace

Shapes::Shapes(const llvm::Function& function, Structure& structure, bool whole_rows)
    : structure_(structure), layout_(function.getParent()->getDataLayout()), whole_rows_(whole_rows) {
  for (const llvm::Argument& argument : function.args()) shapes_[&argument] = Shape::uniform();
  auto diverges = [this](const llvm::Instruction* branch) { return !(*this)(branch->getOperand(0)).is_uniform(); };
  // Unknown shapes and missing divergence are only ever found to be more than that, so this ends.
  for (bool changed = true; changed;) {
    changed = false;
    structure.update([&](const llvm::Instruction* branch) {
      Shape shape = (*this)(branch->getOperand(0));
      return shape.kind != Shape::unknown && diverges(branch);
    });
    for (Block* block : structure.order()) {
      for (const llvm::Instruction& instruction : *block) {
        if (instruction.getType()->isVoidTy()) continue;
        Shape& kept = shapes_[&instruction];
        Shape found = of_instruction(instruction);
        if (kept.kind != Shape::unknown) found = meet(kept, found);
        if (found == kept) continue;
        kept = found;
        changed = true;
      }
    }
  }
  // What hangs on nothing but undefined values.
  for (auto& [value, shape] : shapes_)
    if (shape.kind == Shape::unknown) shape = Shape::uniform();
}

Shape Shapes::operator()(const llvm::Value* value) const {
  if (const auto* constant = llvm::dyn_cast<llvm::Constant>(value)) return Shape::uniform(zeros_of(*constant));
  auto found = shapes_.find(value);
  return found == shapes_.end() ? Shape{} : found->second;
}

Shape Shapes::of_phi(const llvm::PHINode& phi) const {
  Block* block = phi.getParent();
  bool same = phi.hasConstantValue() != nullptr;
  bool outlives = false;  // lanes bring values of different turns
  for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
    Block* from = phi.getIncomingBlock(i);
    const auto* value = llvm::dyn_cast<llvm::Instruction>(phi.getIncomingValue(i));
    if (value != nullptr && structure_.leaves_divergent_loop(from, block) &&
        structure_.loops().getLoopFor(value->getParent()) != structure_.loops().getLoopFor(block))
      outlives = true;
  }
  if (outlives || (!structure_.joins_together(block) && !same)) return Shape::each();
  Shape shape;
  for (const llvm::Value* value : phi.incoming_values())
    if (!llvm::isa<llvm::UndefValue>(value)) shape = meet(shape, (*this)(value));
  bool scalar = phi.getType()->isIntegerTy() || phi.getType()->isPointerTy();
  return scalar || shape.is_uniform() || shape.kind == Shape::unknown ? shape : Shape::each();
}

Shape Shapes::of_binary(const llvm::BinaryOperator& binary) const {
  const Shape a = (*this)(binary.getOperand(0)), b = (*this)(binary.getOperand(1));
  if (a.kind == Shape::unknown || b.kind == Shape::unknown) return {};
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(binary.getOperand(1));
  const bool uniform = a.is_uniform() && b.is_uniform();
  if (a.is_varying() || b.is_varying()) return Shape::each();
  if (!binary.getType()->isIntegerTy() || binary.getType()->isIntegerTy(1))
    return uniform ? Shape::uniform() : Shape::each();
  switch (binary.getOpcode()) {
    case llvm::Instruction::Add:
      return Shape::affine(a.stride + b.stride, std::min(a.zeros, b.zeros));
    case llvm::Instruction::Sub:
      return Shape::affine(a.stride - b.stride, std::min(a.zeros, b.zeros));
    case llvm::Instruction::Or:
      if (uniform) return Shape::uniform(std::min(a.zeros, b.zeros));
      if (llvm::cast<llvm::PossiblyDisjointInst>(binary).isDisjoint())
        return Shape::affine(a.stride + b.stride, std::min(a.zeros, b.zeros));
      return Shape::each();
    case llvm::Instruction::Mul:
      if (uniform) return Shape::uniform(std::min(a.zeros + b.zeros, most_zeros));
      if (constant != nullptr && constant->getBitWidth() <= 64)
        return Shape::affine(a.stride * constant->getSExtValue(), std::min(a.zeros + b.zeros, most_zeros));
      return Shape::each();
    case llvm::Instruction::Shl: {
      if (constant == nullptr || constant->getValue().uge(64)) return uniform ? Shape::uniform() : Shape::each();
      const unsigned shift = static_cast<unsigned>(constant->getZExtValue());
      return Shape::affine(static_cast<std::int64_t>(static_cast<std::uint64_t>(a.stride) << shift),
                           std::min(a.zeros + shift, most_zeros));
    }
    case llvm::Instruction::And:
      if (uniform) return Shape::uniform(std::max(a.zeros, b.zeros));
      if (constant != nullptr && constant->getBitWidth() <= 64 && a.counts_lanes()) {
        const std::uint64_t low = constant->getZExtValue() & (warp_size - 1);
        if (low == warp_size - 1) return Shape::affine(1, lane_bits);
        if (low == 0) return Shape::uniform(std::max(a.zeros, b.zeros));
      }
      return Shape::each();
    case llvm::Instruction::LShr:
    case llvm::Instruction::AShr:
      if (uniform) return Shape::uniform();
      if (constant != nullptr && constant->getValue().uge(lane_bits) && a.counts_lanes()) return Shape::uniform();
      return Shape::each();
    case llvm::Instruction::UDiv:
      if (uniform) return Shape::uniform();
      if (constant != nullptr && b.zeros >= lane_bits && a.counts_lanes()) return Shape::uniform();
      return Shape::each();
    case llvm::Instruction::URem:
      if (uniform) return Shape::uniform();
      if (b.is_uniform() && b.zeros >= lane_bits && a.counts_lanes()) return Shape::affine(1, lane_bits);
      return Shape::each();
    default:
      return uniform ? Shape::uniform() : Shape::each();
  }
}

bool Shapes::extends_by_lane(const llvm::Value* value, bool is_signed) const {
  const Shape shape = (*this)(value);
  if (shape.is_uniform() || shape.counts_lanes()) return true;
  if (shape.is_varying() || shape.kind == Shape::unknown) return false;
  const auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(value);
  if (binary == nullptr) return false;
  const bool disjoint = binary->getOpcode() == llvm::Instruction::Or;  // a disjoint one, having this shape
  const bool wraps = !disjoint && (!llvm::isa<llvm::OverflowingBinaryOperator>(binary) ||
                                   !(is_signed ? binary->hasNoSignedWrap() : binary->hasNoUnsignedWrap()));
  if (wraps) return false;
  return extends_by_lane(binary->getOperand(0), is_signed) && extends_by_lane(binary->getOperand(1), is_signed);
}

Shape Shapes::of_cast(const llvm::CastInst& cast) const {
  const llvm::Value* operand = cast.getOperand(0);
  const Shape shape = (*this)(operand);
  if (shape.kind == Shape::unknown || shape.is_varying()) return shape;
  if (shape.is_uniform()) return Shape::uniform(cast.getType()->isIntegerTy() ? shape.zeros : 0);
  switch (cast.getOpcode()) {
    case llvm::Instruction::Trunc:
    case llvm::Instruction::PtrToInt:
    case llvm::Instruction::IntToPtr:
    case llvm::Instruction::AddrSpaceCast:
      return cast.getType()->isIntegerTy(1) ? Shape::each() : shape;
    case llvm::Instruction::SExt:
      return extends_by_lane(operand, true) ? shape : Shape::each();
    case llvm::Instruction::ZExt:
      return extends_by_lane(operand, false) || (cast.hasNonNeg() && extends_by_lane(operand, true)) ? shape
                                                                                                     : Shape::each();
    default:
      return Shape::each();
  }
}

Shape Shapes::of_address(const llvm::GetElementPtrInst& address) const {
  Shape result = (*this)(address.getPointerOperand());
  for (auto type = llvm::gep_type_begin(address); type != llvm::gep_type_end(address); ++type) {
    const Shape index = (*this)(type.getOperand());
    if (index.kind == Shape::unknown || result.kind == Shape::unknown) return {};
    if (index.is_varying() || result.is_varying()) return Shape::each();
    if (index.is_uniform()) continue;
    // A narrower index is sign-extended by the address computation.
    if (type.getOperand()->getType()->getIntegerBitWidth() != 64 && !extends_by_lane(type.getOperand(), true))
      return Shape::each();
    result.stride += index.stride * static_cast<std::int64_t>(type.getSequentialElementStride(layout_).getFixedValue());
  }
  result.zeros = 0;
  return result;
}

Shape Shapes::of_call(const llvm::CallInst& call) const {
  switch (marker(&call)) {
    case Marker::thread_x:
      return whole_rows_ ? Shape::affine(1, lane_bits) : Shape::each();
    case Marker::thread_y:
    case Marker::thread_z:
      return whole_rows_ ? Shape::uniform() : Shape::each();
    case Marker::block_x:
      return Shape::uniform(whole_rows_ ? lane_bits : 0);
    case Marker::linear:
      return Shape::affine(1, lane_bits);
    case Marker::private_memory:
      return Shape::affine(llvm::cast<llvm::ConstantInt>(call.getArgOperand(1))->getSExtValue());
    case Marker::ballot:
      // A lane gets the bits of its own mask, so lanes of different masks would differ.
      return (*this)(call.getArgOperand(0));
    case Marker::activemask:
    case Marker::barrier_count:
      return Shape::uniform();
    case Marker::shuffle: {
      Shape value = (*this)(call.getArgOperand(1)), lane = (*this)(call.getArgOperand(2));
      if (value.kind == Shape::unknown || lane.kind == Shape::unknown) return {};
      return lane.is_uniform() || value.is_uniform() ? Shape::uniform() : Shape::each();
    }
    default:
      break;
  }
  Shape result = Shape::uniform();
  for (const llvm::Use& argument : call.args()) {
    const Shape shape = (*this)(argument);
    if (shape.kind == Shape::unknown) return {};
    if (!shape.is_uniform()) result = Shape::each();
  }
  // What may answer differently each time is called for each lane.
  return call.doesNotAccessMemory() || llvm::isa<llvm::IntrinsicInst>(call) ? result : Shape::each();
}

Shape Shapes::of_instruction(const llvm::Instruction& instruction) const {
  if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) return of_phi(*phi);
  if (const auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(&instruction)) return of_binary(*binary);
  if (const auto* cast = llvm::dyn_cast<llvm::CastInst>(&instruction)) return of_cast(*cast);
  if (const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction)) return of_address(*address);
  if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) return of_call(*call);
  if (llvm::isa<llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(instruction)) return Shape::each();
  if (llvm::isa<llvm::FreezeInst>(instruction)) return (*this)(instruction.getOperand(0));
  if (llvm::isa<llvm::SelectInst>(instruction)) {
    const Shape condition = (*this)(instruction.getOperand(0));
    const Shape a = (*this)(instruction.getOperand(1)), b = (*this)(instruction.getOperand(2));
    if (condition.kind == Shape::unknown || a.kind == Shape::unknown || b.kind == Shape::unknown) return {};
    return condition.is_uniform() ? meet(a, b) : Shape::each();
  }
  Shape result = Shape::uniform();
  for (const llvm::Use& operand : instruction.operands()) {
    const Shape shape = (*this)(operand);
    if (shape.kind == Shape::unknown) return {};
    if (!shape.is_uniform()) result = Shape::each();
  }
  return result;
}

}  // namespace gpulua::cpu::simd
