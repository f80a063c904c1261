// Loads, stores and atomics. A warp's addresses are one, a row, or each its own.

#include <llvm/IR/IntrinsicInst.h>

#include <optional>

#include "src/device/cpu/simd/widen.h"

namespace gpulua::cpu::simd {
namespace {

// Gathers read whole words of this many bytes.
constexpr unsigned word_bytes = 4;
// Of a value of each lane, one after the other.
constexpr llvm::Align row_alignment = llvm::Align::Constant<64>();

bool is_half(llvm::Type* type) {
  return type->isHalfTy() || type->isBFloatTy();
}

/// How the type is moved: halves as integers of their size.
llvm::Type* moved_as(llvm::Type* type) {
  return is_half(type) ? llvm::Type::getInt16Ty(type->getContext()) : type;
}

/// What the processor gathers by itself.
bool has_gather(const llvm::DataLayout& layout, llvm::Type* type) {
  const std::uint64_t bytes = layout.getTypeStoreSize(type).getFixedValue();
  return !type->isIntegerTy(1) && (bytes == 4 || bytes == 8) && layout.getTypeAllocSize(type) == bytes &&
         (!type->isIntegerTy() || type->getIntegerBitWidth() == bytes * 8);
}

bool is_whole_integer(llvm::Type* type) {
  return !type->isIntegerTy() ||
         (type->getIntegerBitWidth() % 8 == 0 && llvm::isPowerOf2_32(type->getIntegerBitWidth()));
}

/// What adds nothing to a reduction; none for what cannot be reduced.
llvm::Constant* identity(llvm::AtomicRMWInst::BinOp operation, llvm::Type* type) {
  const unsigned bits = type->getScalarSizeInBits();
  switch (operation) {
    case llvm::AtomicRMWInst::Add:
    case llvm::AtomicRMWInst::Sub:
    case llvm::AtomicRMWInst::Or:
    case llvm::AtomicRMWInst::Xor:
    case llvm::AtomicRMWInst::UMax:
      return llvm::ConstantInt::get(type, 0);
    case llvm::AtomicRMWInst::And:
    case llvm::AtomicRMWInst::UMin:
      return llvm::Constant::getAllOnesValue(type);
    case llvm::AtomicRMWInst::Max:
      return llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(bits));
    case llvm::AtomicRMWInst::Min:
      return llvm::ConstantInt::get(type, llvm::APInt::getSignedMaxValue(bits));
    case llvm::AtomicRMWInst::FAdd:
    case llvm::AtomicRMWInst::FSub:
      return llvm::ConstantFP::getZero(type, /*Negative=*/true);
    default:
      return nullptr;
  }
}

llvm::Value* reduce(llvm::IRBuilder<>& builder, llvm::AtomicRMWInst::BinOp operation, llvm::Value* values) {
  switch (operation) {
    case llvm::AtomicRMWInst::Or:
      return builder.CreateOrReduce(values);
    case llvm::AtomicRMWInst::Xor:
      return builder.CreateXorReduce(values);
    case llvm::AtomicRMWInst::And:
      return builder.CreateAndReduce(values);
    case llvm::AtomicRMWInst::Max:
    case llvm::AtomicRMWInst::UMax:
      return builder.CreateIntMaxReduce(values, operation == llvm::AtomicRMWInst::Max);
    case llvm::AtomicRMWInst::Min:
    case llvm::AtomicRMWInst::UMin:
      return builder.CreateIntMinReduce(values, operation == llvm::AtomicRMWInst::Min);
    case llvm::AtomicRMWInst::FAdd:
    case llvm::AtomicRMWInst::FSub: {
      auto* type = llvm::cast<llvm::VectorType>(values->getType())->getElementType();
      llvm::CallInst* sum = builder.CreateFAddReduce(llvm::ConstantFP::getZero(type, true), values);
      sum->setHasAllowReassoc(true);  // atomics come in any order
      return sum;
    }
    default:
      return builder.CreateAddReduce(values);
  }
}

}  // namespace

llvm::Value* Widener::emit_load(const llvm::LoadInst& load) {
  llvm::Type* type = load.getType();
  const Shape address = shapes_(load.getPointerOperand());
  const auto bytes = static_cast<std::int64_t>(layout_.getTypeAllocSize(type).getFixedValue());
  if (!load.isSimple() || type->isStructTy() || !is_whole_integer(type)) return emit_for_each_lane(load);
  if (address.is_varying() || address.stride != bytes || !type->isSingleValueType())
    return emit_gather(type, load.getPointerOperand(), load.getAlign());
  llvm::Type* moved = widened(moved_as(type));
  llvm::Value* pointer = scalar(load.getPointerOperand());
  llvm::Value* result = mask_is_full()
                            ? static_cast<llvm::Value*>(builder_.CreateAlignedLoad(moved, pointer, load.getAlign()))
                            : builder_.CreateMaskedLoad(moved, pointer, load.getAlign(), mask());
  return builder_.CreateBitCast(result, widened(type), load.getName());
}

llvm::Value* Widener::emit_gather(llvm::Type* type, const llvm::Value* address, llvm::Align align) {
  llvm::Value* addresses = vector(address);
  // A lane's part of interleaved memory is aligned to an element only.
  align = std::min(align, llvm::Align(layout_.getABITypeAlign(type)));
  if (has_gather(layout_, type)) return builder_.CreateMaskedGather(widened(type), addresses, align, mask());
  return builder_.CreateBitCast(emit_narrow_gather(moved_as(type), addresses), widened(type));
}

/// Bytes and halves are cut out of the aligned words that they are in, which are as readable as they are.
llvm::Value* Widener::emit_narrow_gather(llvm::Type* type, llvm::Value* addresses) {
  llvm::Type* i64 = widened(builder_.getInt64Ty());
  llvm::Value* bytes = builder_.CreatePtrToInt(addresses, i64);
  llvm::Value* word = builder_.CreateAnd(bytes, llvm::ConstantInt::getSigned(i64, -static_cast<int>(word_bytes)));
  llvm::Value* words =
      builder_.CreateMaskedGather(widened(builder_.getInt32Ty()), builder_.CreateIntToPtr(word, addresses->getType()),
                                  llvm::Align(word_bytes), mask());
  llvm::Value* offset =
      builder_.CreateTrunc(builder_.CreateAnd(bytes, llvm::ConstantInt::get(i64, word_bytes - 1)), words->getType());
  llvm::Value* shift = builder_.CreateShl(offset, llvm::ConstantInt::get(words->getType(), 3));
  return builder_.CreateTrunc(builder_.CreateLShr(words, shift), widened(type));
}

void Widener::emit_store(const llvm::StoreInst& store) {
  const llvm::Value* value = store.getValueOperand();
  const llvm::Value* address = store.getPointerOperand();
  const Shape shape = shapes_(address);
  const auto bytes = static_cast<std::int64_t>(layout_.getTypeAllocSize(value->getType()).getFixedValue());
  if (shape.is_uniform() && is_uniform(value)) return emit_scalar(store);
  if (!store.isSimple() || value->getType()->isStructTy() || !is_whole_integer(value->getType())) {
    emit_for_each_lane(store);
    return;
  }
  if (shape.is_uniform()) {
    // All lanes write one place: the last one's value stays.
    llvm::Value* leading = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, bits_of(mask()), builder_.getFalse());
    llvm::Value* last = builder_.CreateSub(builder_.getInt32(warp_size - 1), leading);
    builder_.CreateAlignedStore(builder_.CreateExtractElement(vector(value), last), scalar(address), store.getAlign());
    return;
  }
  if (!shape.is_varying() && shape.stride == bytes) {
    llvm::Value* values = builder_.CreateBitCast(vector(value), widened(moved_as(value->getType())));
    if (mask_is_full())
      builder_.CreateAlignedStore(values, scalar(address), store.getAlign());
    else
      builder_.CreateMaskedStore(values, scalar(address), store.getAlign(), mask());
    return;
  }
  if (has_gather(layout_, value->getType())) {
    builder_.CreateMaskedScatter(vector(value), vector(address), store.getAlign(), mask());
    return;
  }
  emit_for_each_lane(store);
}

/// One operation for all lanes, where they mean one place and do not ask for what was there.
bool Widener::reduce_atomic(const llvm::AtomicRMWInst& atomic) {
  llvm::Constant* none = identity(atomic.getOperation(), atomic.getType());
  if (!is_uniform(atomic.getPointerOperand()) || !atomic.use_empty() || none == nullptr || atomic.isVolatile())
    return false;
  llvm::Value* neutral = llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(warp_size), none);
  llvm::Value* total =
      reduce(builder_, atomic.getOperation(), builder_.CreateSelect(mask(), vector(atomic.getValOperand()), neutral));
  auto* copy = llvm::cast<llvm::AtomicRMWInst>(builder_.Insert(atomic.clone()));
  copy->setOperand(0, scalar(atomic.getPointerOperand()));
  copy->setOperand(1, total);
  copy->setDebugLoc({});
  return true;
}

llvm::Value* Widener::emit_atomic(const llvm::AtomicRMWInst& atomic) {
  return emit_for_each_lane(atomic);
}

llvm::Value* Widener::emit_exchange(const llvm::AtomicCmpXchgInst& exchange) {
  return emit_for_each_lane(exchange);
}

void Widener::emit_for_each_lane(llvm::Value* lanes, const std::function<void(Builder&, llvm::Value* lane)>& body) {
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* loop = new_block("lane");
  llvm::BasicBlock* done = new_block("lanes.done");
  llvm::Type* i32 = builder_.getInt32Ty();
  llvm::Value* all = bits_of(lanes);
  builder_.CreateCondBr(builder_.CreateICmpNE(all, builder_.getInt32(0)), loop, done);
  builder_.SetInsertPoint(loop);
  llvm::PHINode* bits = builder_.CreatePHI(i32, 2);
  bits->addIncoming(all, before);
  llvm::Value* lane = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits, builder_.getTrue());
  body(builder_, lane);
  llvm::Value* rest = builder_.CreateAnd(bits, builder_.CreateSub(bits, builder_.getInt32(1)));
  bits->addIncoming(rest, builder_.GetInsertBlock());
  builder_.CreateCondBr(builder_.CreateICmpNE(rest, builder_.getInt32(0)), loop, done);
  builder_.SetInsertPoint(done);
}

llvm::Value* Widener::emit_for_each_lane(const llvm::Instruction& instruction) {
  // Operands and results lie in memory, one lane's after the other's.
  struct Row {
    llvm::AllocaInst* memory;
    llvm::Type* element;
    bool is_bit;
  };
  auto make_row = [&](llvm::Type* type) {
    const bool is_bit = type->isIntegerTy(1);
    llvm::Type* element = is_bit ? builder_.getInt8Ty() : type;
    llvm::AllocaInst* memory = local(llvm::ArrayType::get(element, warp_size), "lanes");
    memory->setAlignment(row_alignment);
    return Row{memory, element, is_bit};
  };
  auto write = [&](const Row& row, llvm::Value* values) {
    builder_.CreateAlignedStore(row.is_bit ? builder_.CreateZExt(values, widened(row.element)) : values, row.memory,
                                row_alignment);
  };
  std::vector<std::optional<Row>> rows;
  for (const llvm::Use& operand : instruction.operands()) {
    rows.emplace_back();
    if (is_uniform(operand) || llvm::isa<llvm::Function>(operand) || operand->getType()->isMetadataTy()) continue;
    rows.back() = make_row(operand->getType());
    write(*rows.back(), vector(operand));
  }
  llvm::Type* type = instruction.getType();
  std::vector<Row> results;
  if (type->isStructTy())
    for (llvm::Type* field : llvm::cast<llvm::StructType>(type)->elements()) results.push_back(make_row(field));
  else if (!type->isVoidTy())
    results.push_back(make_row(type));

  emit_for_each_lane(mask(), [&](Builder& builder, llvm::Value* lane) {
    auto place = [&](const Row& row) { return builder.CreateGEP(row.element, row.memory, lane); };
    llvm::Instruction* copy = instruction.clone();
    for (unsigned i = 0; i < copy->getNumOperands(); ++i) {
      if (!rows[i]) {
        if (!llvm::isa<llvm::Function>(copy->getOperand(i))) copy->setOperand(i, scalar(copy->getOperand(i)));
        continue;
      }
      llvm::Value* value = builder.CreateLoad(rows[i]->element, place(*rows[i]));
      copy->setOperand(i, rows[i]->is_bit ? builder.CreateTrunc(value, builder.getInt1Ty()) : value);
    }
    copy->dropUnknownNonDebugMetadata();
    copy->setDebugLoc({});
    builder.Insert(copy);
    auto keep = [&](const Row& row, llvm::Value* value) {
      builder.CreateStore(row.is_bit ? builder.CreateZExt(value, row.element) : value, place(row));
    };
    if (type->isStructTy())
      for (unsigned i = 0; i < results.size(); ++i) keep(results[i], builder.CreateExtractValue(copy, i));
    else if (!results.empty())
      keep(results.front(), copy);
  });

  auto read = [&](const Row& row) {
    llvm::Value* values = builder_.CreateAlignedLoad(widened(row.element), row.memory, row_alignment);
    return row.is_bit ? builder_.CreateTrunc(values, widened(builder_.getInt1Ty())) : values;
  };
  if (results.empty()) return nullptr;
  if (!type->isStructTy()) return read(results.front());
  llvm::Value* result = llvm::PoisonValue::get(widened(type));
  for (unsigned i = 0; i < results.size(); ++i) result = builder_.CreateInsertValue(result, read(results[i]), i);
  return result;
}

}  // namespace gpulua::cpu::simd
