#include "src/device/cpu/simd/widen_lane_loop.h"

#include "src/device/cpu/simd/shared_atomics.h"
#include "src/device/cpu/simd/target.h"

namespace gpulua::cpu::simd {
namespace {

constexpr llvm::Align row_alignment = llvm::Align::Constant<64>();

// Width of a general register.
constexpr unsigned word_bits = 64;

/// True for a value that each lane computes from its own operands, instead of loading it: an address takes more memory
/// than its index.
bool is_cheap(const llvm::Value* value) {
  return llvm::isa<llvm::GetElementPtrInst, llvm::ZExtInst, llvm::SExtInst>(value);
}

}  // namespace

/// A value of each lane, in memory. Integers of odd sizes take the next size whose vectors are stored like arrays.
class LaneLoop::Row {
 public:
  Row(LaneLoop& loop, llvm::Type* type) : type_(type), element_(type) {
    if (type->isIntegerTy())
      element_ = llvm::Type::getIntNTy(type->getContext(), std::max(8u, llvm::bit_ceil(type->getIntegerBitWidth())));
    memory_ = loop.row_memory(element_);
  }
  void write(WarpBuilder::Builder& builder, llvm::Value* values) const {
    builder.CreateAlignedStore(in_memory(builder, values), memory_, row_alignment);
  }
  llvm::Value* read(WarpBuilder::Builder& builder) const {
    return in_register(builder, builder.CreateAlignedLoad(widened(element_), memory_, row_alignment), widened(type_));
  }
  void write(WarpBuilder::Builder& builder, llvm::Value* lane, llvm::Value* value) const {
    builder.CreateStore(in_memory(builder, value), builder.CreateGEP(element_, memory_, lane));
  }
  llvm::Value* read(WarpBuilder::Builder& builder, llvm::Value* lane) const {
    return in_register(builder, builder.CreateLoad(element_, builder.CreateGEP(element_, memory_, lane)), type_);
  }

 private:
  llvm::Value* in_memory(WarpBuilder::Builder& builder, llvm::Value* value) const {
    if (element_ == type_) return value;
    return builder.CreateZExt(value, value->getType()->isVectorTy() ? widened(element_) : element_);
  }
  llvm::Value* in_register(WarpBuilder::Builder& builder, llvm::Value* value, llvm::Type* type) const {
    return element_ == type_ ? value : builder.CreateTrunc(value, type);
  }

  llvm::Type *type_, *element_;
  llvm::AllocaInst* memory_;
};

/// Where the loop finds the operands of a lane.
struct LaneLoop::Operands {
  std::map<const llvm::Value*, Row> rows;
  std::map<std::pair<const llvm::Value*, unsigned>, llvm::Value*> words;
};

llvm::AllocaInst* LaneLoop::row_memory(llvm::Type* element) {
  std::vector<llvm::AllocaInst*>& all = memory_[element];
  const std::size_t next = taken_[element]++;
  if (next == all.size()) {
    all.push_back(warp_.local(llvm::ArrayType::get(element, lane_count()), "lanes"));
    all.back()->setAlignment(row_alignment);
  }
  return all[next];
}

void LaneLoop::write_rows(const llvm::Value* value, Operands& operands) {
  if (warp_.is_uniform(value) || operands.rows.contains(value)) return;
  if (is_cheap(value) && warp_.is_varying(value)) {
    for (const llvm::Use& operand : llvm::cast<llvm::Instruction>(value)->operands()) write_rows(operand, operands);
    return;
  }
  operands.rows.emplace(value, Row(*this, value->getType())).first->second.write(builder_, warp_.vector(value));
}

/// Extracts an element from a vector register. Small elements come in words with their neighbours: extracting them one
/// by one is slow.
llvm::Value* LaneLoop::element(const llvm::Value* value, unsigned lane, Operands& operands) {
  const unsigned bits = value->getType()->isIntegerTy() ? value->getType()->getIntegerBitWidth() : word_bits;
  if (bits < 8 || bits >= word_bits || word_bits % bits != 0)
    return builder_.CreateExtractElement(warp_.vector(value), lane);
  llvm::Type* type = builder_.getIntNTy(word_bits);
  llvm::Value*& word = operands.words[{value, lane * bits / word_bits}];
  if (word == nullptr) {
    llvm::Value* words =
        builder_.CreateBitCast(warp_.vector(value), llvm::FixedVectorType::get(type, lane_count() * bits / word_bits));
    // Hidden, because LLVM would extract the elements one by one after all.
    word = hide_origin(builder_, builder_.CreateExtractElement(words, lane * bits / word_bits));
  }
  return builder_.CreateTrunc(builder_.CreateLShr(word, lane * bits % word_bits), value->getType());
}

llvm::Value* LaneLoop::of_lane(const llvm::Value* value, llvm::Value* lane, Operands& operands) {
  if (warp_.is_uniform(value)) return warp_.scalar(value);
  if (auto row = operands.rows.find(value); row != operands.rows.end()) return row->second.read(builder_, lane);
  if (!is_cheap(value) || !warp_.is_varying(value))
    return element(value, static_cast<unsigned>(llvm::cast<llvm::ConstantInt>(lane)->getZExtValue()), operands);
  llvm::Instruction* copy = llvm::cast<llvm::Instruction>(value)->clone();
  for (llvm::Use& operand : copy->operands()) operand.set(of_lane(operand, lane, operands));
  copy->dropUnknownNonDebugMetadata();
  copy->setDebugLoc({});
  return builder_.Insert(copy);
}

void LaneLoop::emit_loop(llvm::Value* lanes, llvm::function_ref<void(llvm::Value*)> body) {
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* loop = warp_.new_block("lane");
  llvm::BasicBlock* done = warp_.new_block("lanes.done");
  llvm::Value* all = warp_.bits_of(lanes);
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

llvm::Value* LaneLoop::emit(const llvm::Instruction& instruction) {
  auto is_value = [](const llvm::Value* operand) {
    return !llvm::isa<llvm::Function>(operand) && !operand->getType()->isMetadataTy();
  };
  llvm::Type* type = instruction.getType();
  taken_.clear();
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
    // With all lanes active, from registers: loads of rows would wait for the stores to them, and those for other
    // lanes' stores.
    llvm::BasicBlock* all = warp_.new_block("lanes.all");
    llvm::BasicBlock* some = warp_.new_block("lanes.some");
    done = warp_.new_block("lanes.done");
    builder_.CreateCondBr(builder_.CreateICmpEQ(warp_.bits_of(warp_.mask()), builder_.getInt32(all_lanes())), all,
                          some);
    builder_.SetInsertPoint(all);
    for (unsigned lane = 0; lane < lane_count(); ++lane) emit(builder_.getInt32(lane));
    builder_.CreateBr(done);
    builder_.SetInsertPoint(some);
  }
  for (const llvm::Use& operand : instruction.operands())
    if (is_value(operand)) write_rows(operand, operands);
  emit_loop(warp_.mask(), emit);
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
