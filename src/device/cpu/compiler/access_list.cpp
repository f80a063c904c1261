#include "src/device/cpu/compiler/access_list.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include "src/device/cpu/abi/check_record.h"

namespace gpulua::cpu {
namespace {

class AccessList {
 public:
  explicit AccessList(const llvm::Module& module)
      : layout_(module.getDataLayout()), size_type_(llvm::Type::getInt64Ty(module.getContext())) {}

  void add(llvm::Instruction& instruction) {
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      add(instruction, load->getPointerOperand(), load->getType(), access::read, load->getAlign());
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
      add(instruction, store->getPointerOperand(), store->getValueOperand()->getType(), access::write,
          store->getAlign());
      list_.back().written = store->getValueOperand();
    } else if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
      add(instruction, update->getPointerOperand(), update->getType(), access::read | access::write,
          update->getAlign());
    } else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
      add(instruction, exchange->getPointerOperand(), exchange->getNewValOperand()->getType(),
          access::read | access::write, exchange->getAlign());
    } else if (auto* memory = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction)) {
      auto* transfer = llvm::dyn_cast<llvm::MemTransferInst>(memory);
      if (transfer != nullptr)
        add_bytes(instruction, transfer->getRawSource(), memory->getLength(), access::read, transfer->getSourceAlign());
      add_bytes(instruction, memory->getRawDest(), memory->getLength(), access::write, memory->getDestAlign());
      if (transfer != nullptr) {
        list_.back().written = transfer->getRawSource();
        list_.back().kind |= access::value_at;
      }
    }
    if (list_.empty() || list_.back().instruction != &instruction) return;
    if (instruction.isAtomic()) list_.back().kind |= access::atomic;
    if (instruction.isVolatile()) list_.back().kind |= access::is_volatile;
  }

  std::vector<Access> take() { return std::move(list_); }

 private:
  void add(llvm::Instruction& instruction, llvm::Value* pointer, llvm::Type* type, unsigned kind, llvm::Align align) {
    const std::uint64_t bytes = layout_.getTypeStoreSize(type).getFixedValue();
    list_.push_back({&instruction, pointer, llvm::ConstantInt::get(size_type_, bytes), nullptr, kind,
                     static_cast<unsigned>(align.value())});
  }
  void add_bytes(llvm::Instruction& instruction, llvm::Value* pointer, llvm::Value* bytes, unsigned kind,
                 llvm::MaybeAlign align) {
    list_.push_back({&instruction, pointer, bytes, nullptr, kind | access::copy,
                     static_cast<unsigned>(align.valueOrOne().value())});
  }

  const llvm::DataLayout& layout_;
  llvm::Type* size_type_;
  std::vector<Access> list_;
};

}  // namespace

std::vector<Access> list_accesses(llvm::Function& function) {
  AccessList list(*function.getParent());
  for (llvm::Instruction& instruction : llvm::instructions(function)) list.add(instruction);
  return list.take();
}

llvm::Value* find_base(llvm::Value* pointer) {
  llvm::SmallVector<const llvm::Value*, 4> objects;
  llvm::getUnderlyingObjects(pointer, objects, nullptr, /*MaxLookup=*/0);
  if (objects.size() == 1 && llvm::isa<llvm::Argument, llvm::GlobalVariable, llvm::AllocaInst>(objects.front()))
    return const_cast<llvm::Value*>(objects.front());
  return llvm::getUnderlyingObject(pointer, /*MaxLookup=*/0);
}

}  // namespace gpulua::cpu
