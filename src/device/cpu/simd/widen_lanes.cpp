// What is done lane by lane: operands and results lie in memory, one lane's after the other's.

#include "src/device/cpu/simd/shared_atomics.h"
#include "src/device/cpu/simd/target.h"
#include "src/device/cpu/simd/widen.h"

namespace gpulua::cpu::simd {
namespace {

constexpr llvm::Align row_alignment = llvm::Align::Constant<64>();

// Of a general register.
constexpr unsigned word_bits = 64;

/// What each lane computes of its own operands rather than bring it from memory: an address takes more room there than
/// its index.
bool is_cheap(const llvm::Value* value) {
  return llvm::isa<llvm::GetElementPtrInst, llvm::ZExtInst, llvm::SExtInst>(value);
}

}  // namespace

/// A value of each lane, in memory. Integers of odd sizes take the next size whose vectors lie there as arrays do.
class Widener::Row {
 public:
  Row(Widener& widener, llvm::Type* type) : type_(type), element_(type) {
    if (type->isIntegerTy())
      element_ = llvm::Type::getIntNTy(type->getContext(), std::max(8u, llvm::bit_ceil(type->getIntegerBitWidth())));
    memory_ = widener.local(llvm::ArrayType::get(element_, warp_size), "lanes");
    memory_->setAlignment(row_alignment);
  }
  void write(Builder& builder, llvm::Value* values) const {
    builder.CreateAlignedStore(in_memory(builder, values), memory_, row_alignment);
  }
  llvm::Value* read(Builder& builder) const {
    return in_register(builder, builder.CreateAlignedLoad(widened(element_), memory_, row_alignment), widened(type_));
  }
  void write(Builder& builder, llvm::Value* lane, llvm::Value* value) const {
    builder.CreateStore(in_memory(builder, value), builder.CreateGEP(element_, memory_, lane));
  }
  llvm::Value* read(Builder& builder, llvm::Value* lane) const {
    return in_register(builder, builder.CreateLoad(element_, builder.CreateGEP(element_, memory_, lane)), type_);
  }

 private:
  llvm::Value* in_memory(Builder& builder, llvm::Value* value) const {
    if (element_ == type_) return value;
    return builder.CreateZExt(value, value->getType()->isVectorTy() ? widened(element_) : element_);
  }
  llvm::Value* in_register(Builder& builder, llvm::Value* value, llvm::Type* type) const {
    return element_ == type_ ? value : builder.CreateTrunc(value, type);
  }

  llvm::Type *type_, *element_;
  llvm::AllocaInst* memory_;
};

/// What lanes take their own values from.
struct Widener::Operands {
  std::map<const llvm::Value*, Row> rows;
  std::map<std::pair<const llvm::Value*, unsigned>, llvm::Value*> words;
};

void Widener::write_rows(const llvm::Value* value, Operands& operands) {
  if (is_uniform(value) || operands.rows.contains(value)) return;
  if (is_cheap(value) && is_varying(value)) {
    for (const llvm::Use& operand : llvm::cast<llvm::Instruction>(value)->operands()) write_rows(operand, operands);
    return;
  }
  operands.rows.emplace(value, Row(*this, value->getType())).first->second.write(builder_, vector(value));
}

/// Out of a vector register, together with its neighbours where several fit in a word: one by one that is slow.
llvm::Value* Widener::element(const llvm::Value* value, unsigned lane, Operands& operands) {
  const unsigned bits = value->getType()->isIntegerTy() ? value->getType()->getIntegerBitWidth() : word_bits;
  if (bits < 8 || bits >= word_bits || word_bits % bits != 0) return builder_.CreateExtractElement(vector(value), lane);
  llvm::Type* type = builder_.getIntNTy(word_bits);
  llvm::Value*& word = operands.words[{value, lane * bits / word_bits}];
  if (word == nullptr) {
    llvm::Value* words =
        builder_.CreateBitCast(vector(value), llvm::FixedVectorType::get(type, warp_size * bits / word_bits));
    // LLVM takes out the elements one by one after all where it sees where the word comes from.
    word = hide_origin(builder_, builder_.CreateExtractElement(words, lane * bits / word_bits));
  }
  return builder_.CreateTrunc(builder_.CreateLShr(word, lane * bits % word_bits), value->getType());
}

llvm::Value* Widener::of_lane(const llvm::Value* value, llvm::Value* lane, Operands& operands) {
  if (is_uniform(value)) return scalar(value);
  if (auto row = operands.rows.find(value); row != operands.rows.end()) return row->second.read(builder_, lane);
  if (!is_cheap(value) || !is_varying(value))
    return element(value, static_cast<unsigned>(llvm::cast<llvm::ConstantInt>(lane)->getZExtValue()), operands);
  llvm::Instruction* copy = llvm::cast<llvm::Instruction>(value)->clone();
  for (llvm::Use& operand : copy->operands()) operand.set(of_lane(operand, lane, operands));
  copy->dropUnknownNonDebugMetadata();
  copy->setDebugLoc({});
  return builder_.Insert(copy);
}

void Widener::emit_for_each_lane(llvm::Value* lanes, const std::function<void(llvm::Value*)>& body) {
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* loop = new_block("lane");
  llvm::BasicBlock* done = new_block("lanes.done");
  llvm::Value* all = bits_of(lanes);
  builder_.CreateCondBr(builder_.CreateICmpNE(all, builder_.getInt32(0)), loop, done);
  builder_.SetInsertPoint(loop);
  llvm::PHINode* bits = builder_.CreatePHI(builder_.getInt32Ty(), 2);
  bits->addIncoming(all, before);
  body(builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits, builder_.getTrue()));
  llvm::Value* rest = builder_.CreateAnd(bits, builder_.CreateSub(bits, builder_.getInt32(1)));
  bits->addIncoming(rest, builder_.GetInsertBlock());
  builder_.CreateCondBr(builder_.CreateICmpNE(rest, builder_.getInt32(0)), loop, done);
  builder_.SetInsertPoint(done);
}

llvm::Value* Widener::emit_for_each_lane(const llvm::Instruction& instruction) {
  auto is_value = [](const llvm::Value* operand) {
    return !llvm::isa<llvm::Function>(operand) && !operand->getType()->isMetadataTy();
  };
  llvm::Type* type = instruction.getType();
  std::vector<Row> results;
  if (type->isStructTy())
    for (llvm::Type* field : llvm::cast<llvm::StructType>(type)->elements()) results.emplace_back(*this, field);
  else if (!type->isVoidTy() && !instruction.use_empty())
    results.emplace_back(*this, type);

  Operands operands;
  auto emit = [&](llvm::Value* lane) {
    llvm::Instruction* copy = instruction.clone();
    for (llvm::Use& operand : copy->operands())
      if (is_value(operand)) operand.set(of_lane(operand, lane, operands));
    copy->dropUnknownNonDebugMetadata();
    copy->setDebugLoc({});
    builder_.Insert(copy);
    if (type->isStructTy())
      for (unsigned i = 0; i < results.size(); ++i)
        results[i].write(builder_, lane, builder_.CreateExtractValue(copy, i));
    else if (!results.empty())
      results.front().write(builder_, lane, copy);
  };
  llvm::BasicBlock* done = nullptr;
  if (is_shared_atomic(instruction)) {
    // Out of registers: loads of rows, which follow stores to them, may be held back behind the stores of other lanes.
    llvm::BasicBlock* all = new_block("lanes.all");
    llvm::BasicBlock* some = new_block("lanes.some");
    done = new_block("lanes.done");
    builder_.CreateCondBr(builder_.CreateICmpEQ(bits_of(mask()), builder_.getInt32(~0u)), all, some);
    builder_.SetInsertPoint(all);
    for (unsigned lane = 0; lane < warp_size; ++lane) emit(builder_.getInt32(lane));
    builder_.CreateBr(done);
    builder_.SetInsertPoint(some);
  }
  for (const llvm::Use& operand : instruction.operands())
    if (is_value(operand)) write_rows(operand, operands);
  emit_for_each_lane(mask(), emit);
  if (done != nullptr) {
    builder_.CreateBr(done);
    builder_.SetInsertPoint(done);
  }

  if (type->isVoidTy()) return nullptr;
  if (type->isStructTy()) {
    llvm::Value* result = llvm::PoisonValue::get(widened(type));
    for (unsigned i = 0; i < results.size(); ++i)
      result = builder_.CreateInsertValue(result, results[i].read(builder_), i);
    return result;
  }
  return results.empty() ? llvm::PoisonValue::get(widened(type)) : results.front().read(builder_);
}

}  // namespace gpulua::cpu::simd
