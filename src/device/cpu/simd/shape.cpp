#include "src/device/cpu/simd/shape.h"

#include <llvm/ADT/bit.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/PatternMatch.h>

#include <algorithm>
#include <cstddef>

#include "src/device/cpu/abi/abi.h"
#include "src/device/cpu/simd/markers.h"

namespace gpulua::cpu::simd {
namespace {

constexpr unsigned lane_bits = 5;
constexpr unsigned most_zeros = 64;

std::int64_t wrapping_product(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

std::int64_t wrapping_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

unsigned zeros_of(std::int64_t number) {
  return number == 0 ? most_zeros : static_cast<unsigned>(llvm::countr_zero(static_cast<std::uint64_t>(number)));
}

unsigned zeros_of(const llvm::Constant& constant) {
  const auto* integer = llvm::dyn_cast<llvm::ConstantInt>(&constant);
  if (integer == nullptr) return 0;
  return integer->isZero() ? most_zeros : std::min(integer->getValue().countr_zero(), most_zeros);
}

Shape meet(Shape a, Shape b) {
  if (a.kind == Shape::unknown) return b;
  if (b.kind == Shape::unknown) return a;
  if (a.is_varying() || b.is_varying() || a.stride != b.stride) return Shape::each();
  if (a.kind == Shape::halves || b.kind == Shape::halves || a.step != b.step) {
    a = a.in_halves();
    b = b.in_halves();
  }
  a.zeros = std::min(a.zeros, b.zeros);
  return a;
}

/// `change` of base + offset, where it is the sum of `change` of the base and of the offset.
Shape changed_offsets(const Shape& shape, unsigned zeros, const std::function<std::uint64_t(std::uint64_t)>& change) {
  auto at = [&](unsigned lane) {
    return static_cast<std::int64_t>(change(static_cast<std::uint64_t>(shape.offset(lane))));
  };
  Shape result = shape;
  result.stride = at(1);
  result.step = shape.kind == Shape::halves ? 0 : at(half_warp);
  result.zeros = zeros;
  for (unsigned lane = 0; lane < warp_size; ++lane)
    if (at(lane) != result.offset(lane)) return Shape::each();
  return result;
}

Shape of_uniform_binary(const llvm::BinaryOperator& binary, Shape a, Shape b) {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(binary.getOperand(1));
  switch (binary.getOpcode()) {
    case llvm::Instruction::Add:
    case llvm::Instruction::Sub:
    case llvm::Instruction::Or:
      return Shape::uniform(std::min(a.zeros, b.zeros));
    case llvm::Instruction::Mul:
      return Shape::uniform(std::min(a.zeros + b.zeros, most_zeros));
    case llvm::Instruction::Shl:
      if (constant == nullptr || constant->getValue().uge(most_zeros)) return Shape::uniform();
      return Shape::uniform(std::min(a.zeros + static_cast<unsigned>(constant->getZExtValue()), most_zeros));
    case llvm::Instruction::And:
      return Shape::uniform(std::max(a.zeros, b.zeros));
    default:
      return Shape::uniform();
  }
}

/// True iff dividing a by the uniform b leaves the offsets of a in the remainder, whole and by themselves.
bool divides_bases(const Shape& a, const Shape& b, unsigned bits) {
  Shape offsets = a;
  offsets.zeros = std::min(a.zeros, b.zeros);
  return offsets.counts_below(bits);
}

}  // namespace

bool Shape::counts_below(unsigned bits) const {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  if (kind == unknown || kind == varying || stride < 0 || stride > most || step < 0 || step > most) return false;
  return static_cast<std::uint64_t>(offset(warp_size - 1)) < std::uint64_t{1} << std::min({zeros, bits, 63u});
}

Shape Shape::in_halves() const {
  if (kind != progression) return *this;
  return {halves, stride, 0, std::min(zeros, zeros_of(step))};
}

Shape operator+(Shape a, Shape b) {
  if (a.kind == Shape::unknown || b.kind == Shape::unknown) return {};
  if (a.is_varying() || b.is_varying()) return Shape::each();
  if (a.kind != b.kind) {
    a = a.in_halves();
    b = b.in_halves();
  }
  return {a.kind, wrapping_sum(a.stride, b.stride), wrapping_sum(a.step, b.step), std::min(a.zeros, b.zeros)};
}

Shape operator*(Shape a, std::int64_t factor) {
  if (a.kind == Shape::unknown || a.is_varying()) return a;
  return {a.kind, wrapping_product(a.stride, factor), wrapping_product(a.step, factor),
          std::min(a.zeros + zeros_of(factor), most_zeros)};
}

Shape sum_or_product(const llvm::BinaryOperator& binary, Shape a, Shape b) {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(binary.getOperand(1));
  const bool known = constant != nullptr && constant->getValue().getSignificantBits() <= 64;
  switch (binary.getOpcode()) {
    case llvm::Instruction::Add:
      return a + b;
    case llvm::Instruction::Sub:
      return a + b * -1;
    case llvm::Instruction::Or:
      return llvm::cast<llvm::PossiblyDisjointInst>(binary).isDisjoint() ? a + b : Shape::each();
    case llvm::Instruction::Mul:
      if (known) return a * constant->getSExtValue();
      if (!a.is_uniform_in_halves() || !b.is_uniform_in_halves()) return Shape::each();
      return {Shape::halves, 0, 0, std::min(a.in_halves().zeros + b.in_halves().zeros, most_zeros)};
    case llvm::Instruction::Shl:
      if (!known || constant->getValue().uge(63)) return Shape::each();
      return a * (std::int64_t{1} << constant->getZExtValue());
    default:
      return Shape::each();
  }
}

Shapes::Shapes(const llvm::Function& function, Structure& structure, WarpLayout layout)
    : structure_(structure), data_(function.getParent()->getDataLayout()), layout_(layout) {
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
  if (a.is_varying() || b.is_varying()) return Shape::each();
  const bool uniform = a.is_uniform() && b.is_uniform();
  if (!binary.getType()->isIntegerTy() || binary.getType()->isIntegerTy(1))
    return uniform ? Shape::uniform() : Shape::each();
  if (uniform) return of_uniform_binary(binary, a, b);
  if (Shape sum = sum_or_product(binary, a, b); !sum.is_varying()) return sum;
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(binary.getOperand(1));
  const unsigned bits = binary.getType()->getIntegerBitWidth();
  Shape result = Shape::each();
  if (constant != nullptr && bits <= 64) {
    const std::uint64_t number = constant->getZExtValue();
    switch (binary.getOpcode()) {
      case llvm::Instruction::And:
        if (a.counts_below(bits))
          result =
              changed_offsets(a, std::max(a.zeros, b.zeros), [&](std::uint64_t offset) { return offset & number; });
        break;
      case llvm::Instruction::LShr:
      case llvm::Instruction::AShr:
        if (number < bits && a.counts_below(binary.getOpcode() == llvm::Instruction::LShr ? bits : bits - 1))
          result = changed_offsets(a, a.zeros - std::min(a.zeros, static_cast<unsigned>(number)),
                                   [&](std::uint64_t offset) { return offset >> number; });
        break;
      case llvm::Instruction::UDiv:
        if (a.kind == Shape::progression && divides_bases(a, b, bits)) result = Shape::uniform();
        break;
      default:
        break;
    }
  }
  if (binary.getOpcode() == llvm::Instruction::URem && b.is_uniform() && divides_bases(a, b, bits)) {
    result = a;
    result.zeros = std::min(a.zeros, b.zeros);
  }
  if (result.is_varying() && a.is_uniform_in_halves() && b.is_uniform_in_halves() && !binary.isIntDivRem())
    return {Shape::halves, 0, 0, 0};
  return result;
}

bool Shapes::extends_at_base(const llvm::Value* value, bool is_signed) const {
  const Shape shape = (*this)(value);
  if (shape.kind == Shape::unknown || shape.is_varying()) return false;
  const unsigned bits = value->getType()->getIntegerBitWidth();
  return shape.is_uniform_in_halves() || shape.counts_below(is_signed ? bits - 1 : bits) || is_thread_number(value);
}

/// True iff the value is threadIdx on an axis, or blockIdx * blockDim + threadIdx, of which a warp has no two between
/// which it wraps, signed or unsigned (abi.h: BlockRule, and gpulua_run_rows).
bool Shapes::is_thread_number(const llvm::Value* value) const {
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

bool Shapes::is_context_field(const llvm::Value* value, std::size_t offset) const {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(value);
  if (load == nullptr) return false;
  llvm::APInt found(64, 0);
  const llvm::Value* object = load->getPointerOperand()->stripAndAccumulateConstantOffsets(data_, found, true);
  return object == load->getFunction()->getArg(0) && found == offset;
}

Shape Shapes::extended(const llvm::Value* value, bool is_signed) const {
  const Shape shape = (*this)(value);
  if (shape.kind == Shape::unknown || shape.is_varying()) return shape;
  const unsigned bits = value->getType()->getIntegerBitWidth();
  if (shape.counts_below(is_signed ? bits - 1 : bits) || is_thread_number(value)) return shape;
  if (shape.is_uniform_in_halves()) return shape.in_halves();
  const auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(value);
  if (binary == nullptr) return Shape::each();
  const bool disjoint = binary->getOpcode() == llvm::Instruction::Or;  // a disjoint one, having this shape
  const bool wraps = !disjoint && (!llvm::isa<llvm::OverflowingBinaryOperator>(binary) ||
                                   !(is_signed ? binary->hasNoSignedWrap() : binary->hasNoUnsignedWrap()));
  const auto* factor = llvm::dyn_cast<llvm::ConstantInt>(binary->getOperand(1));
  const bool other_factor = binary->getOpcode() == llvm::Instruction::Mul && factor != nullptr && !is_signed &&
                            factor->isNegative();  // its shape counts as a signed one
  if (wraps || other_factor) return Shape::each();
  return sum_or_product(*binary, extended(binary->getOperand(0), is_signed),
                        extended(binary->getOperand(1), is_signed));
}

Shape Shapes::of_cast(const llvm::CastInst& cast) const {
  const llvm::Value* operand = cast.getOperand(0);
  const Shape shape = (*this)(operand);
  if (shape.kind == Shape::unknown || shape.is_varying()) return shape;
  if (shape.is_uniform()) return Shape::uniform(cast.getType()->isIntegerTy() ? shape.zeros : 0);
  // Strides have 64 bits.
  if (cast.getType()->isIntegerTy() && cast.getType()->getIntegerBitWidth() > 64) return Shape::each();
  switch (cast.getOpcode()) {
    case llvm::Instruction::Trunc:
    case llvm::Instruction::PtrToInt:
    case llvm::Instruction::IntToPtr:
    case llvm::Instruction::AddrSpaceCast:
      return cast.getType()->isIntegerTy(1) ? Shape::each() : shape;
    case llvm::Instruction::SExt:
      return extended(operand, true);
    case llvm::Instruction::ZExt: {
      const Shape result = extended(operand, false);
      return result.is_varying() && cast.hasNonNeg() ? extended(operand, true) : result;
    }
    default:
      return Shape::each();
  }
}

Shape Shapes::of_address(const llvm::GetElementPtrInst& address) const {
  Shape result = (*this)(address.getPointerOperand());
  for (auto type = llvm::gep_type_begin(address); type != llvm::gep_type_end(address); ++type) {
    // A narrower index is sign-extended by the address computation.
    const llvm::Value* index = type.getOperand();
    const bool narrow = !type.isStruct() && index->getType()->getIntegerBitWidth() != 64;
    const Shape shape = narrow ? extended(index, true) : (*this)(index);
    if (shape.is_uniform()) continue;
    result = result + shape * static_cast<std::int64_t>(type.getSequentialElementStride(data_).getFixedValue());
  }
  result.zeros = 0;
  return result;
}

/// Of what depends on nothing but its operands, integers: the same wherever they are.
Shape Shapes::of_operands(const llvm::User& operation) const {
  Shape result = Shape::uniform();
  for (const llvm::Use& operand : operation.operands()) {
    if (llvm::isa<llvm::Function>(operand)) continue;
    const Shape shape = (*this)(operand);
    if (shape.kind == Shape::unknown) return {};
    if (!shape.is_uniform_in_halves() || !operation.getType()->isIntegerTy()) return Shape::each();
    if (!shape.is_uniform()) result = {Shape::halves, 0, 0, 0};
  }
  return result;
}

Shape Shapes::of_call(const llvm::CallInst& call) const {
  Shape result = Shape::uniform();
  switch (marker(&call)) {
    case Marker::thread_x:
      if (layout_ == WarpLayout::half_rows) return {Shape::progression, 1, 0, most_zeros};
      return layout_ == WarpLayout::any ? Shape::each() : Shape::affine(1, layout_ == WarpLayout::row ? lane_bits : 0);
    case Marker::thread_y:
      if (layout_ == WarpLayout::half_rows) return {Shape::progression, 0, 1, 1};
      return layout_ == WarpLayout::any ? Shape::each() : Shape::uniform();
    case Marker::thread_z:
      return layout_ == WarpLayout::any ? Shape::each() : Shape::uniform();
    case Marker::block_x:
      return Shape::uniform(layout_ == WarpLayout::half_rows ? zeros_of(half_warp) : 0);
    case Marker::linear:
      return Shape::affine(1, lane_bits);
    case Marker::private_memory:
      return Shape::affine(llvm::cast<llvm::ConstantInt>(call.getArgOperand(1))->getSExtValue());
    case Marker::ballot:
      // A lane gets the bits of its own mask, so lanes of different masks would differ.
      result = (*this)(call.getArgOperand(0));
      return result.kind == Shape::unknown || result.is_uniform() ? result : Shape::each();
    case Marker::activemask:
    case Marker::all:
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
  if (llvm::isa<llvm::MinMaxIntrinsic>(call)) return of_operands(call);
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
    return condition.is_uniform() ? meet(a, b) : of_operands(instruction);
  }
  if (llvm::isa<llvm::ICmpInst>(instruction)) return of_operands(instruction);
  Shape result = Shape::uniform();
  for (const llvm::Use& operand : instruction.operands()) {
    const Shape shape = (*this)(operand);
    if (shape.kind == Shape::unknown) return {};
    if (!shape.is_uniform()) result = Shape::each();
  }
  return result;
}

}  // namespace gpulua::cpu::simd
