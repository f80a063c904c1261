#include "src/device/cpu/simd/widen_paired_access.h"

#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/PatternMatch.h>

#include <optional>

#include "src/device/cpu/simd/target.h"

namespace gpulua::cpu::simd {
namespace {

// In bytes. Longer rows are no faster than two strided ones.
constexpr unsigned longest_row = 512;

bool is_part(llvm::Type* type) {
  return type->isFloatTy() || type->isDoubleTy() || type->isIntegerTy(32) || type->isIntegerTy(64);
}

llvm::Type* type_of_access(const llvm::Instruction& access) {
  const auto* store = llvm::dyn_cast<llvm::StoreInst>(&access);
  return store != nullptr ? store->getValueOperand()->getType() : access.getType();
}

/// The bytes from one address to the other, where they are known.
std::optional<std::int64_t> distance(const llvm::DataLayout& layout, const llvm::Value* from, const llvm::Value* to) {
  using namespace llvm::PatternMatch;
  const unsigned bits = layout.getIndexTypeSizeInBits(from->getType());
  llvm::APInt a(bits, 0), b(bits, 0);
  from = from->stripAndAccumulateConstantOffsets(layout, a, /*AllowNonInbounds=*/true);
  to = to->stripAndAccumulateConstantOffsets(layout, b, /*AllowNonInbounds=*/true);
  const std::int64_t constant = (b - a).getSExtValue();
  if (from == to) return constant;
  // Elements i and i + 1 of an array.
  const auto *x = llvm::dyn_cast<llvm::GetElementPtrInst>(from), *y = llvm::dyn_cast<llvm::GetElementPtrInst>(to);
  if (x == nullptr || y == nullptr || x->getPointerOperand() != y->getPointerOperand() || x->getNumIndices() != 1 ||
      y->getNumIndices() != 1 || x->getSourceElementType() != y->getSourceElementType())
    return std::nullopt;
  const auto bytes = static_cast<std::int64_t>(layout.getTypeAllocSize(x->getSourceElementType()).getFixedValue());
  const llvm::Value *i = x->getOperand(1), *j = y->getOperand(1);
  if (match(j, m_CombineOr(m_Add(m_Specific(i), m_One()), m_DisjointOr(m_Specific(i), m_One()))))
    return constant + bytes;
  if (match(i, m_CombineOr(m_Add(m_Specific(j), m_One()), m_DisjointOr(m_Specific(j), m_One()))))
    return constant - bytes;
  return std::nullopt;
}

}  // namespace

/// True if the lanes' pairs of such elements are a row that this processor can load and store.
bool PairedAccess::can_be_row(const llvm::Value* address, llvm::Type* type) const {
  if (!is_part(type) || (!has_masked_bytes(warp_.scalar_function()) && !warp_.mask_is_full())) return false;
  const auto bytes = static_cast<std::int64_t>(warp_.layout().getTypeAllocSize(type).getFixedValue());
  return warp_.pattern(address).is_consecutive(2 * bytes) && lane_count() * 2 * bytes <= longest_row;
}

/// The access of the other element that follows in the block. Nothing that writes memory stands between them, and
/// nothing that reads it between stores.
PairedAccess::Neighbour PairedAccess::find_next(const llvm::Instruction& first) const {
  const llvm::Value* address = llvm::getLoadStorePointerOperand(&first);
  llvm::Type* type = type_of_access(first);
  const bool loads = llvm::isa<llvm::LoadInst>(first);
  const auto bytes = static_cast<std::int64_t>(warp_.layout().getTypeAllocSize(type).getFixedValue());
  for (const llvm::Instruction* next = first.getNextNode(); next != nullptr; next = next->getNextNode()) {
    const bool is_alike = next->getOpcode() == first.getOpcode() && type_of_access(*next) == type &&
                          (loads ? llvm::cast<llvm::LoadInst>(next)->isSimple()
                                 : llvm::cast<llvm::StoreInst>(next)->isSimple());
    if (is_alike) {
      const std::optional<std::int64_t> to = distance(warp_.layout(), address, llvm::getLoadStorePointerOperand(next));
      if (to && std::abs(*to) == bytes && can_be_row(llvm::getLoadStorePointerOperand(next), type))
        return {next, *to > 0};
    }
    if (loads ? next->mayHaveSideEffects() : next->mayReadOrWriteMemory()) break;
  }
  return {};
}

/// Each lane's bit twice.
llvm::Value* PairedAccess::mask_of_pairs() {
  const unsigned elements = 2 * lane_count();
  llvm::Value* lanes = builder_.CreateZExt(warp_.bits_of(warp_.mask()), builder_.getInt64Ty());
  llvm::Value* bits =
      builder_.CreateIntrinsic(llvm::Intrinsic::x86_bmi_pdep_64, {}, {lanes, builder_.getInt64(0x5555555555555555)});
  bits = builder_.CreateTrunc(builder_.CreateMul(bits, builder_.getInt64(3)), builder_.getIntNTy(elements));
  return builder_.CreateBitCast(bits, llvm::FixedVectorType::get(builder_.getInt1Ty(), elements));
}

llvm::Value* PairedAccess::load(const llvm::LoadInst& load) {
  if (const auto found = loaded_.find(&load); found != loaded_.end()) return found->second;
  if (!load.isSimple() || !can_be_row(load.getPointerOperand(), load.getType())) return nullptr;
  const Neighbour other = find_next(load);
  if (other.instruction == nullptr) return nullptr;
  const auto& second = llvm::cast<llvm::LoadInst>(*other.instruction);
  llvm::Value* place = warp_.scalar(load.getPointerOperand());
  const auto bytes = static_cast<std::int64_t>(warp_.layout().getTypeAllocSize(load.getType()).getFixedValue());
  if (!other.follows) place = builder_.CreateConstGEP1_64(builder_.getInt8Ty(), place, -bytes);
  auto* row_type = llvm::FixedVectorType::get(load.getType(), 2 * lane_count());
  const llvm::Align align = warp_.layout().getABITypeAlign(load.getType());
  llvm::Value* row = warp_.mask_is_full()
                         ? static_cast<llvm::Value*>(builder_.CreateAlignedLoad(row_type, place, align))
                         : builder_.CreateMaskedLoad(row_type, place, align, mask_of_pairs());
  llvm::Value* parts[2];
  for (unsigned part = 0; part < 2; ++part) {
    llvm::SmallVector<int> order;
    for (unsigned lane = 0; lane < lane_count(); ++lane) order.push_back(static_cast<int>(2 * lane + part));
    parts[part] = builder_.CreateShuffleVector(row, order);
  }
  loaded_[&second] = parts[other.follows ? 1 : 0];
  return parts[other.follows ? 0 : 1];
}

bool PairedAccess::store(const llvm::StoreInst& store) {
  llvm::Type* type = store.getValueOperand()->getType();
  const auto found = postponed_.find(&store);
  if (found == postponed_.end()) {
    if (!store.isSimple() || !can_be_row(store.getPointerOperand(), type)) return false;
    const Neighbour next = find_next(store);
    if (next.instruction == nullptr) return false;
    postponed_[llvm::cast<llvm::StoreInst>(next.instruction)] = {&store, !next.follows};
    return true;
  }
  const auto& first = llvm::cast<llvm::StoreInst>(*found->second.instruction);
  const bool follows = found->second.follows;
  const llvm::StoreInst &low = follows ? store : first, &high = follows ? first : store;
  llvm::SmallVector<int> order;
  for (unsigned lane = 0; lane < lane_count(); ++lane) {
    order.push_back(static_cast<int>(lane));
    order.push_back(static_cast<int>(lane_count() + lane));
  }
  llvm::Value* row = builder_.CreateShuffleVector(warp_.vector(low.getValueOperand()),
                                                  warp_.vector(high.getValueOperand()), order);
  llvm::Value* place = warp_.scalar(low.getPointerOperand());
  const llvm::Align align = warp_.layout().getABITypeAlign(type);
  if (warp_.mask_is_full())
    builder_.CreateAlignedStore(row, place, align);
  else
    builder_.CreateMaskedStore(row, place, align, mask_of_pairs());
  return true;
}

}  // namespace gpulua::cpu::simd
