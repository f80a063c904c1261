#include "src/device/cpu/simd/prepare.h"

#include <llvm/IR/Attributes.h>
#include <llvm/IR/ConstantRange.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/ReplaceConstant.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <functional>

#include "src/device/cpu/abi/abi.h"
#include "src/device/cpu/ir/reachable.h"
#include "src/device/cpu/simd/markers.h"
#include "src/device/cpu/simd/private_memory.h"
#include "src/device/cpu/simd/privatised_histograms.h"
#include "src/device/cpu/simd/runtime_calls.h"
#include "src/device/cpu/simd/shared_atomics.h"

namespace gpulua::cpu::simd {
namespace {

constexpr unsigned max_kernel_instructions = 40000;
constexpr unsigned max_threads = 1024;  // of a block

/// clang passes two floats of a struct as a vector; the copy takes an integer of the same bits.
llvm::Type* passed_as(llvm::Type* type) {
  return type->isVectorTy()
             ? llvm::Type::getIntNTy(type->getContext(),
                                     static_cast<unsigned>(type->getPrimitiveSizeInBits().getFixedValue()))
             : type;
}

llvm::Function* copy_with_context(llvm::Function& kernel) {
  std::vector<llvm::Type*> types{llvm::PointerType::get(kernel.getContext(), 0)};
  for (llvm::Type* type : kernel.getFunctionType()->params()) types.push_back(passed_as(type));
  auto* copy =
      llvm::Function::Create(llvm::FunctionType::get(kernel.getReturnType(), types, false),
                             llvm::GlobalValue::InternalLinkage, kernel.getName() + ".simd", kernel.getParent());
  llvm::ValueToValueMapTy map;
  std::vector<llvm::Instruction*> vectors;
  for (llvm::Argument& argument : kernel.args()) {
    llvm::Value* passed = copy->getArg(argument.getArgNo() + 1);
    if (passed->getType() != argument.getType())
      passed = vectors.emplace_back(new llvm::BitCastInst(passed, argument.getType()));
    map[&argument] = passed;
    copy->getArg(argument.getArgNo() + 1)->setName(argument.getName());
  }
  llvm::SmallVector<llvm::ReturnInst*> returns;
  llvm::CloneFunctionInto(copy, &kernel, map, llvm::CloneFunctionChangeType::LocalChangesOnly, returns);
  for (llvm::Instruction* vector : vectors) vector->insertInto(&copy->getEntryBlock(), copy->getEntryBlock().begin());
  copy->setVisibility(llvm::GlobalValue::DefaultVisibility);  // a template's may be hidden
  copy->setDSOLocal(true);
  copy->setAttributes(llvm::AttributeList::get(kernel.getContext(), kernel.getAttributes().getFnAttrs(), {}, {}));
  for (llvm::Argument& argument : kernel.args())
    copy->addParamAttrs(
        argument.getArgNo() + 1,
        llvm::AttrBuilder(kernel.getContext(), kernel.getAttributes().getParamAttrs(argument.getArgNo())));
  copy->removeFnAttr(llvm::Attribute::NoInline);
  copy->removeFnAttr(llvm::Attribute::OptimizeNone);
  // A failed assertion unwinds through the kernel; clang says of all device code that nothing does.
  copy->removeFnAttr(llvm::Attribute::NoUnwind);
  copy->getArg(0)->setName("context");
  return copy;
}

/// Replaces sincos() by sin() and cos(), which have vector versions.
void split_sincos(llvm::CallInst& call) {
  llvm::IRBuilder<> builder(&call);
  llvm::Type* type = call.getArgOperand(0)->getType();
  for (unsigned i : {1u, 2u}) {
    llvm::Value* value =
        builder.CreateUnaryIntrinsic(i == 1 ? llvm::Intrinsic::sin : llvm::Intrinsic::cos, call.getArgOperand(0));
    builder.CreateAlignedStore(value, call.getArgOperand(i), llvm::Align(type->getScalarSizeInBits() / 8));
  }
  call.eraseFromParent();
}

void describe_builtin(llvm::CallInst& call, Marker kind) {
  call.setConvergent();
  if (kind != Marker::shuffle && kind != Marker::ballot && kind != Marker::activemask) return;
  call.setOnlyAccessesInaccessibleMemory();
  call.setDoesNotThrow();
  call.addFnAttr(llvm::Attribute::WillReturn);
}

/// False if the function grows too large. There is no recursion.
bool inline_all(llvm::Function& function) {
  for (bool changed = true; changed;) {
    changed = false;
    std::vector<llvm::CallInst*> calls;
    unsigned size = 0;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      ++size;
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) calls.push_back(call);
    }
    if (size > max_kernel_instructions) return false;
    for (llvm::CallInst* call : calls) {
      llvm::Function* callee = call->getCalledFunction();
      if (callee == nullptr) continue;
      call->removeFnAttr(llvm::Attribute::NoUnwind);
      if (const Marker kind = marker(call); kind != Marker::none) {
        describe_builtin(*call, kind);
      } else if (callee->getName() == "sincos" || callee->getName() == "sincosf") {
        split_sincos(*call);
      } else if (!callee->isDeclaration()) {
        llvm::InlineFunctionInfo info;
        if (!llvm::InlineFunction(*call, info).isSuccess()) return false;
        changed = true;
      }
    }
  }
  return true;
}

/// A marker for a number from `first` up to, not including, `last`.
llvm::CallInst* call_index_marker(llvm::IRBuilder<>& builder, Marker marker, unsigned first, unsigned last) {
  llvm::CallInst* call = call_marker(builder, marker, builder.getInt32Ty(), {});
  call->getCalledFunction()->addFnAttr(llvm::Attribute::Speculatable);
  call->setDoesNotAccessMemory();
  call->addRangeRetAttr(llvm::ConstantRange(llvm::APInt(32, first), llvm::APInt(32, last)));
  return call;
}

/// A field of the context that is uniform in a warp.
llvm::Value* load_field(llvm::IRBuilder<>& builder, llvm::Value* context, std::size_t offset, unsigned first,
                        unsigned last) {
  auto* load = llvm::cast<llvm::LoadInst>(context_field(builder, context, offset, builder.getInt32Ty()));
  llvm::MDBuilder metadata(builder.getContext());
  load->setMetadata(llvm::LLVMContext::MD_range, metadata.createRange(llvm::APInt(32, first), llvm::APInt(32, last)));
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(builder.getContext(), {}));
  return load;
}

/// Replaces built-in variables by local ones, which SROA dissolves.
class LocalVariables {
 public:
  LocalVariables(llvm::Function& function, const SharedLayout& layout) : function_(function), layout_(layout) {}

  void replace() {
    const unsigned max_blocks = 0x7fffffff;
    triple("threadIdx", offsetof(ThreadContext, thread), {Marker::thread_x, Marker::thread_y, Marker::thread_z}, 0,
           max_threads);
    triple("blockIdx", offsetof(ThreadContext, block), {}, 0, max_blocks);
    triple("blockDim", offsetof(ThreadContext, block_size), {Marker::block_x}, 1, max_threads + 1);
    triple("gridDim", offsetof(ThreadContext, grid_size), {}, 1, max_blocks + 1);
    whole_context();
    for (const auto& [variable, offset] : layout_.offsets)
      replace_uses(variable, [&](llvm::IRBuilder<>& builder) {
        return shared_memory(builder, offsetof(ThreadContext, shared), offset);
      });
    llvm::Value* dynamic = nullptr;  // all dynamic variables have the same address
    for (llvm::GlobalVariable* variable : layout_.dynamic)
      replace_uses(variable, [&](llvm::IRBuilder<>& builder) {
        if (dynamic == nullptr) dynamic = shared_memory(builder, offsetof(ThreadContext, dynamic_shared), 0);
        return dynamic;
      });
  }

 private:
  llvm::IRBuilder<> entry() { return llvm::IRBuilder<>(&function_.getEntryBlock(), function_.getEntryBlock().begin()); }

  void replace_uses(llvm::GlobalVariable* variable, const std::function<llvm::Value*(llvm::IRBuilder<>&)>& make) {
    if (variable == nullptr) return;
    llvm::convertUsersOfConstantsToInstructions({variable});
    std::vector<llvm::Use*> uses;
    for (llvm::Use& use : variable->uses())
      if (auto* user = llvm::dyn_cast<llvm::Instruction>(use.getUser());
          user != nullptr && user->getFunction() == &function_)
        uses.push_back(&use);
    if (uses.empty()) return;
    llvm::IRBuilder<> builder = entry();
    llvm::Value* place = make(builder);
    for (llvm::Use* use : uses) use->set(place);
  }

  llvm::GlobalVariable* find(const char* name) {
    return function_.getParent()->getGlobalVariable(name, /*AllowInternal=*/true);
  }

  void store_at(llvm::IRBuilder<>& builder, llvm::Value* memory, std::size_t offset, llvm::Value* value) {
    builder.CreateStore(value, builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), memory, offset));
  }

  void triple(const char* name, std::size_t offset, std::vector<Marker> markers, unsigned first, unsigned last) {
    replace_uses(find(name), [&](llvm::IRBuilder<>& builder) {
      llvm::AllocaInst* memory = builder.CreateAlloca(llvm::ArrayType::get(builder.getInt32Ty(), 3), nullptr, name);
      for (unsigned axis = 0; axis < 3; ++axis) {
        llvm::Value* value = axis < markers.size() ? call_index_marker(builder, markers[axis], first, last)
                                                   : load_field(builder, function_.getArg(0),
                                                                offset + axis * sizeof(unsigned), first, last);
        store_at(builder, memory, axis * sizeof(unsigned), value);
      }
      return memory;
    });
  }

  void whole_context() {
    replace_uses(find("gpulua_thread_context"), [&](llvm::IRBuilder<>& builder) {
      llvm::AllocaInst* memory = builder.CreateAlloca(llvm::ArrayType::get(builder.getInt8Ty(), sizeof(ThreadContext)),
                                                      nullptr, "own.context");
      memory->setAlignment(llvm::Align(alignof(ThreadContext)));
      builder.CreateMemCpy(memory, llvm::Align(8), function_.getArg(0), llvm::Align(8), sizeof(ThreadContext));
      const Marker markers[] = {Marker::thread_x, Marker::thread_y, Marker::thread_z};
      for (unsigned axis = 0; axis < 3; ++axis)
        store_at(builder, memory, offsetof(ThreadContext, thread) + axis * sizeof(unsigned),
                 call_index_marker(builder, markers[axis], 0, max_threads));
      store_at(builder, memory, offsetof(ThreadContext, linear),
               call_index_marker(builder, Marker::linear, 0, max_threads));
      return memory;
    });
  }

  /// The address of a variable in shared memory, marked as one that no parameter points to: then LLVM knows that stores
  /// to global memory do not change shared memory. Marker::escape keeps loads after barriers, since other threads
  /// write.
  llvm::Value* shared_memory(llvm::IRBuilder<>& builder, std::size_t field, std::uint64_t offset) {
    llvm::Value* memory = context_field(builder, function_.getArg(0), field, builder.getPtrTy());
    llvm::Value* variable = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), memory, offset);
    llvm::CallInst* own = call_marker(builder, Marker::shared_memory, builder.getPtrTy(), {variable});
    own->setDoesNotAccessMemory();
    own->addRetAttr(llvm::Attribute::NoAlias);
    call_marker(builder, Marker::escape, builder.getVoidTy(), {own})->setOnlyAccessesInaccessibleMemory();
    return own;
  }

  llvm::Function& function_;
  const SharedLayout& layout_;
};

/// Removes the markers on addresses of shared memory.
void forget_shared_memory(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    const Marker kind = marker(&instruction);
    if (kind == Marker::shared_memory) instruction.replaceAllUsesWith(instruction.getOperand(0));
    if (kind == Marker::shared_memory || kind == Marker::escape) instruction.eraseFromParent();
  }
}

/// Replaces casts between a short vector and an integer by shifts and sums of the elements, which the scalariser can
/// split.
void split_bit_casts(llvm::Function& function) {
  const llvm::DataLayout& data = function.getParent()->getDataLayout();
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* cast = llvm::dyn_cast<llvm::BitCastInst>(&instruction);
    if (cast == nullptr) continue;
    auto *from = llvm::dyn_cast<llvm::FixedVectorType>(cast->getSrcTy()),
         *to = llvm::dyn_cast<llvm::FixedVectorType>(cast->getDestTy());
    if (from != nullptr && to != nullptr && from->getNumElements() == to->getNumElements()) continue;
    if (from == nullptr && to == nullptr) continue;
    llvm::IRBuilder<> builder(cast);
    llvm::Type* word =
        builder.getIntNTy(static_cast<unsigned>(data.getTypeSizeInBits(cast->getSrcTy()).getFixedValue()));
    llvm::Value* bits = from == nullptr ? builder.CreateBitCast(cast->getOperand(0), word)
                                        : static_cast<llvm::Value*>(llvm::ConstantInt::get(word, 0));
    for (unsigned i = 0; from != nullptr && i < from->getNumElements(); ++i) {
      llvm::Value* element = builder.CreateBitCast(builder.CreateExtractElement(cast->getOperand(0), i),
                                                   builder.getIntNTy(from->getScalarSizeInBits()));
      bits =
          builder.CreateOr(bits, builder.CreateShl(builder.CreateZExt(element, word), i * from->getScalarSizeInBits()));
    }
    llvm::Value* result = to == nullptr ? builder.CreateBitCast(bits, cast->getDestTy())
                                        : static_cast<llvm::Value*>(llvm::PoisonValue::get(to));
    for (unsigned i = 0; to != nullptr && i < to->getNumElements(); ++i) {
      llvm::Value* element = builder.CreateTrunc(builder.CreateLShr(bits, i * to->getScalarSizeInBits()),
                                                 builder.getIntNTy(to->getScalarSizeInBits()));
      result = builder.CreateInsertElement(result, builder.CreateBitCast(element, to->getElementType()), i);
    }
    cast->replaceAllUsesWith(result);
    cast->eraseFromParent();
  }
}

/// Gives a block with a failed assertion the successor that it would have otherwise, though the call in it does not
/// return. An assertion in a loop then is no exit of the loop.
void rejoin_failures(llvm::Function& function) {
  for (llvm::BasicBlock& block : function) {
    auto* end = llvm::dyn_cast<llvm::UnreachableInst>(block.getTerminator());
    llvm::BasicBlock* before = block.getSinglePredecessor();
    if (end == nullptr || before == nullptr) continue;
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(before->getTerminator());
    if (branch == nullptr || !branch->isConditional()) continue;
    llvm::BasicBlock* other = branch->getSuccessor(branch->getSuccessor(0) == &block ? 1 : 0);
    if (other == &block) continue;
    for (llvm::PHINode& phi : other->phis()) phi.addIncoming(phi.getIncomingValueForBlock(before), &block);
    llvm::BranchInst::Create(other, end->getIterator());
    end->eraseFromParent();
  }
}

}  // namespace

llvm::Function* prepare(llvm::Function& kernel, const SharedLayout& layout, Pipeline& pipeline, std::string& why_not,
                        std::string& limits, llvm::function_ref<void(const llvm::Function&)> choose_lanes) {
  if (calls_in_a_circle(kernel)) {
    why_not = "recursion";
    return nullptr;
  }
  llvm::Function* function = copy_with_context(kernel);
  if (!inline_all(*function)) {
    function->eraseFromParent();
    why_not = "more than " + std::to_string(max_kernel_instructions) + " instructions with all calls inlined";
    return nullptr;
  }
  llvm::stripDebugInfo(*function);
  LocalVariables(*function, layout).replace();
  limits = pipeline.simplify(*function);
  forget_shared_memory(*function);
  rejoin_failures(*function);
  choose_lanes(*function);
  lay_out_private_memory(*function);
  mark_shared_atomics(*function);
  privatise_histograms(*function);
  split_bit_casts(*function);
  pipeline.canonicalize(*function);
  return function;
}

}  // namespace gpulua::cpu::simd
