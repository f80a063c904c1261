#include "src/device/cpu/compiler/instrument.h"

#include <llvm/Analysis/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Mem2Reg.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>

#include "src/device/cpu/compiler/access_list.h"
#include "src/device/cpu/compiler/instrument_calls.h"
#include "src/device/cpu/ir/analyses.h"
#include "src/device/cpu/ir/reachable.h"
#include "src/device/cpu/ir/variables.h"

namespace gpulua::cpu {
namespace {

/// True for the prelude's functions that call the runtime (gpulua_engine.h, gpulua_thread.h): the memory that they
/// access is the runtime's. A source cannot define one of these names again.
bool calls_runtime(const llvm::Function& function) {
  constexpr llvm::StringRef names[] = {"gpulua_barrier",      "gpulua_barrier_count", "gpulua_grid_barrier",
                                       "gpulua_tile_barrier", "gpulua_warp_barrier",  "gpulua_shuffle",
                                       "gpulua_ballot",       "gpulua_activemask",    "gpulua_yield",
                                       "gpulua_pause",        "_Z14gpulua_contextv",  "_Z15gpulua_servicesv",
                                       "_Z11gpulua_failPKcS0_j"};
  return std::ranges::find(names, function.getName()) != std::end(names);
}

/// True for the library's functions in its own kernels.
bool is_own(const SourceModule& source, const llvm::Function& function) {
  return source.own && function.getName().contains("gpulua_");
}

/// True for those whose addresses are right, and are not looked at for speed. Members of gpulua_raw<T> access an array
/// at indices that a script's function computes.
bool is_trusted(const SourceModule& source, const llvm::Function& function) {
  return is_own(source, function) && !function.getName().starts_with("_ZNK10gpulua_raw");
}

/// True for threadIdx and the like, which are places in the thread's context.
bool is_built_in(const llvm::GlobalVariable& variable) {
  constexpr llvm::StringRef names[] = {"gpulua_thread_context", "threadIdx", "blockIdx", "blockDim", "gridDim"};
  return variable.isDeclaration() && std::ranges::find(names, variable.getName()) != std::end(names);
}

bool releases(const llvm::Instruction& instruction) {
  if (llvm::isa<llvm::FenceInst>(instruction)) return true;
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
    return llvm::isReleaseOrStronger(store->getOrdering());
  if (const auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
    return llvm::isReleaseOrStronger(update->getOrdering());
  if (const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction))
    return llvm::isReleaseOrStronger(exchange->getSuccessOrdering());
  return false;
}

/// Inlines device functions and turns local variables into values, so that an access shows which variable or parameter
/// it goes to, and so that only variables with an address are left to check.
void expose_accesses(const SourceModule& source) {
  llvm::Module& module = *source.module;
  for (llvm::Function& function : module) {
    const bool is_kernel = std::ranges::any_of(
        source.kernels, [&](const SourceKernel& kernel) { return function.getName() == kernel.symbol; });
    if (calls_runtime(function)) function.removeFnAttr(llvm::Attribute::AlwaysInline);
    if (function.isDeclaration() || is_kernel || calls_runtime(function) || is_own(source, function) ||
        function.hasFnAttribute(llvm::Attribute::NoInline))
      continue;
    function.addFnAttr(llvm::Attribute::AlwaysInline);
  }
  llvm::PassBuilder builder;
  Analyses analyses(builder);
  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(llvm::PromotePass()));
  passes.run(module, analyses.modules);
}

class Instrumenter {
 public:
  explicit Instrumenter(SourceModule& source)
      : source_(source),
        module_(*source.module),
        hooks_(source),
        builder_(hooks_.builder()),
        sites_(hooks_.sites()) {}

  void run() {
    std::vector<llvm::Function*> functions;
    for (llvm::Function& function : module_)
      if (!function.isDeclaration() && !calls_runtime(function) && !is_trusted(source_, function))
        functions.push_back(&function);
    for (llvm::Function* function : functions) {
      const std::vector<Access> accesses = list_accesses(*function);
      const std::vector<llvm::CallInst*> calls = list_calls(*function);
      for (const Access& access : accesses) instrument_access(access);
      instrument_synchronization(*function);
      instrument_calls(calls, hooks_);
    }
    for (llvm::Function* function : functions) {
      instrument_traps(*function);
      instrument_stack(*function);
    }
    for (const SourceKernel& kernel : source_.kernels) instrument_ends(*module_.getFunction(kernel.symbol));
    for (llvm::Function* function : functions) instrument_stops(*function);
    const std::vector<llvm::Constant*> rows = function_rows();
    define_checks(add_places(), rows);
  }

 private:
  void instrument_access(const Access& access) {
    llvm::Value* base = find_base(access.pointer);
    if (is_plainly_right(*base, access)) return;

    const auto* length = llvm::dyn_cast<llvm::ConstantInt>(access.bytes);
    llvm::Constant* object = sites_.object(*base, *access.pointer, length != nullptr ? length->getZExtValue() : 1);
    hooks_.go_to(*access.instruction);
    unsigned kind = access.kind;
    llvm::Value* value = written_bits(access, kind);
    hooks_.call(offsetof(CheckHooks, access),
              {base, access.pointer, builder_.CreateZExtOrTrunc(access.bytes, builder_.getInt64Ty()), value,
               sites_.site(*access.instruction, kind, access.align, object)});
  }

  /// True for an access at a constant place within a variable that one thread has to itself.
  bool is_plainly_right(const llvm::Value& base, const Access& access) const {
    const auto* length = llvm::dyn_cast<llvm::ConstantInt>(access.bytes);
    std::uint64_t size = sites_.known_bytes(base);
    if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&base)) {
      if ((access.kind & access::write) || (!is_built_in(*variable) && !sites_.is_constant(base))) return false;
      size = module_.getDataLayout().getTypeAllocSize(variable->getValueType());
    }
    if (length == nullptr || size == 0) return false;
    const llvm::DataLayout& layout = module_.getDataLayout();
    llvm::APInt offset(layout.getIndexTypeSizeInBits(access.pointer->getType()), 0);
    const llvm::Value* start =
        access.pointer->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true);
    if (start != &base || offset.isNegative()) return false;
    return offset.getZExtValue() <= size && length->getZExtValue() <= size - offset.getZExtValue();
  }

  /// What the hook gets of the value that is written: its bits, or its address if it is wider. Adds to `kind` which.
  llvm::Value* written_bits(const Access& access, unsigned& kind) {
    llvm::Value* value = access.written;
    if (value == nullptr) return builder_.getInt64(0);
    if (kind & access::value_at) return builder_.CreatePtrToInt(value, builder_.getInt64Ty());
    llvm::Type* type = value->getType();
    const std::uint64_t bits = module_.getDataLayout().getTypeStoreSizeInBits(type).getFixedValue();
    if (bits > 64) {
      llvm::BasicBlock& entry = access.instruction->getFunction()->getEntryBlock();
      llvm::IRBuilder<> start(&entry, entry.getFirstInsertionPt());
      llvm::AllocaInst* copy = start.CreateAlloca(type);
      builder_.CreateStore(value, copy);
      kind |= access::value_at;
      return builder_.CreatePtrToInt(copy, builder_.getInt64Ty());
    }
    kind |= access::value;
    if (type->isPointerTy()) return builder_.CreatePtrToInt(value, builder_.getInt64Ty());
    const auto width = static_cast<unsigned>(type->getPrimitiveSizeInBits().getFixedValue());
    value = builder_.CreateBitCast(builder_.CreateFreeze(value), builder_.getIntNTy(width));
    return builder_.CreateZExt(value, builder_.getInt64Ty());
  }

  void instrument_synchronization(llvm::Function& function) {
    struct Row {
      llvm::StringRef name;
      std::size_t hook;
    };
    constexpr std::array rows{
        Row{"gpulua_barrier", offsetof(CheckHooks, barrier)},
        Row{"gpulua_barrier_count", offsetof(CheckHooks, barrier)},
        Row{"gpulua_grid_barrier", offsetof(CheckHooks, grid_barrier)},
        Row{"gpulua_tile_barrier", offsetof(CheckHooks, tile_barrier)},
        Row{"gpulua_warp_barrier", offsetof(CheckHooks, warp_barrier)},
        Row{"gpulua_shuffle", offsetof(CheckHooks, shuffle)},
        Row{"gpulua_ballot", offsetof(CheckHooks, warp_barrier)},
    };
    std::vector<std::pair<llvm::CallInst*, std::size_t>> calls;
    std::vector<llvm::Instruction*> fences;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (releases(instruction)) fences.push_back(&instruction);
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (call == nullptr || call->getCalledFunction() == nullptr) continue;
      for (const Row& row : rows)
        if (call->getCalledFunction()->getName() == row.name) calls.emplace_back(call, row.hook);
    }
    for (const auto& [call, hook] : calls) {
      hooks_.go_to(*call);
      std::vector<llvm::Value*> arguments{sites_.site(*call, 0, 0, nullptr)};
      if (hook == offsetof(CheckHooks, tile_barrier)) arguments.push_back(call->getArgOperand(0));
      if (hook == offsetof(CheckHooks, shuffle))
        arguments.insert(arguments.end(), {call->getArgOperand(0), call->getArgOperand(2)});
      hooks_.call(hook, std::move(arguments));
    }
    for (llvm::Instruction* fence : fences) {
      hooks_.go_to(*fence);
      hooks_.call(offsetof(CheckHooks, fence), {});
    }
  }

  /// Each turn of a loop, and each call of a function that recurses, looks whether the launch is to end.
  void instrument_stops(llvm::Function& function) {
    llvm::SmallVector<std::pair<const llvm::BasicBlock*, const llvm::BasicBlock*>, 8> edges;
    llvm::FindFunctionBackedges(function, edges);
    std::set<llvm::Instruction*> places;
    for (const auto& [from, to] : edges) places.insert(const_cast<llvm::BasicBlock*>(from)->getTerminator());
    if (may_recurse(function)) places.insert(&*function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    for (llvm::Instruction* place : places) {
      hooks_.go_to(*place);
      llvm::Value* flag = builder_.CreateLoad(builder_.getInt8Ty(), hooks_.load(&hooks_.checks(), offsetof(ModuleChecks, stop)),
                                              /*isVolatile=*/true);
      llvm::Value* set = builder_.CreateICmpNE(flag, builder_.getInt8(0));
      llvm::MDNode* unlikely = llvm::MDBuilder(module_.getContext()).createUnlikelyBranchWeights();
      builder_.SetInsertPoint(llvm::SplitBlockAndInsertIfThen(set, place, /*Unreachable=*/false, unlikely));
      hooks_.call(offsetof(CheckHooks, stop), {});
    }
  }

  /// A place that the source says cannot be reached ends the launch, rather than go on with whatever code comes next.
  void instrument_traps(llvm::Function& function) {
    std::vector<llvm::Instruction*> places;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      const llvm::Intrinsic::ID operation = call != nullptr ? call->getIntrinsicID() : llvm::Intrinsic::not_intrinsic;
      if (llvm::isa<llvm::UnreachableInst>(instruction) || operation == llvm::Intrinsic::trap ||
          operation == llvm::Intrinsic::debugtrap || operation == llvm::Intrinsic::ubsantrap)
        places.push_back(&instruction);
    }
    for (llvm::Instruction* place : places) {
      hooks_.go_to(*place);
      hooks_.call(offsetof(CheckHooks, trap), {sites_.site(*place, 0, 1, nullptr)});
    }
  }

  /// Functions that recurse, and arrays of computed sizes, make room on the stack.
  void instrument_stack(llvm::Function& function) {
    std::vector<llvm::AllocaInst*> arrays;
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* array = llvm::dyn_cast<llvm::AllocaInst>(&instruction); array != nullptr && !array->isStaticAlloca())
        arrays.push_back(array);
    const auto grow = [&](llvm::Instruction& place, llvm::Value* bytes) {
      hooks_.call(offsetof(CheckHooks, grow), {sites_.site(place, 0, 1, nullptr), bytes});
    };
    for (llvm::AllocaInst* array : arrays) {
      hooks_.go_to(*array);
      const std::uint64_t element = module_.getDataLayout().getTypeAllocSize(array->getAllocatedType());
      llvm::Value* count = builder_.CreateZExtOrTrunc(array->getArraySize(), builder_.getInt64Ty());
      // Saturates: a product that wraps would look small.
      grow(*array, builder_.CreateSelect(builder_.CreateICmpUGT(count, builder_.getInt64(UINT32_MAX)),
                                         builder_.getInt64(UINT64_MAX),
                                         builder_.CreateMul(count, builder_.getInt64(element))));
    }
    if (!may_recurse(function)) return;
    llvm::Instruction& start = *function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca();
    hooks_.go_to(start);
    grow(start, builder_.getInt64(0));
  }

  void instrument_ends(llvm::Function& kernel) {
    for (llvm::BasicBlock& block : kernel) {
      auto* end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator());
      if (end == nullptr) continue;
      hooks_.go_to(*end);
      hooks_.call(offsetof(CheckHooks, end), {});
    }
  }

  /// Replaces each global variable by an address that is read at run time. Returns the GlobalPlaces.
  std::vector<llvm::Constant*> add_places() {
    std::vector<llvm::Constant*> rows;
    for (const GlobalEntry& global : source_.globals) {
      llvm::GlobalVariable* variable = module_.getGlobalVariable(global.symbol, /*AllowInternal=*/true);
      llvm::GlobalVariable* place = add_place(*variable);
      rows.push_back(llvm::ConstantStruct::getAnon({sites_.text(global.symbol), place,
                                                    builder_.getInt64(sites_.known_bytes(*variable)),
                                                    builder_.getInt8(sites_.is_constant(*variable))}));
    }
    return rows;
  }

  /// The FunctionPlaces: functions that are called through pointers.
  std::vector<llvm::Constant*> function_rows() {
    std::vector<llvm::Constant*> rows;
    for (llvm::Function& function : module_)
      if (!function.isDeclaration() && function.hasAddressTaken())
        rows.push_back(llvm::ConstantStruct::getAnon({sites_.text(function.getName().str()), &function}));
    return rows;
  }

  void define_checks(const std::vector<llvm::Constant*>& places, const std::vector<llvm::Constant*>& functions) {
    llvm::Constant* null = llvm::ConstantPointerNull::get(builder_.getPtrTy());
    const auto count = [&](const auto& rows) { return builder_.getInt32(static_cast<std::uint32_t>(rows.size())); };
    const auto table = [&](const auto& rows) {
      if (rows.empty()) return null;
      auto* type = llvm::ArrayType::get(rows.front()->getType(), rows.size());
      return sites_.constant(llvm::ConstantArray::get(type, rows));
    };
    hooks_.checks().setInitializer(llvm::ConstantStruct::getAnon(
        {null, null, null, count(places), table(places), count(functions), table(functions)}));
  }

  SourceModule& source_;
  llvm::Module& module_;
  HookCalls hooks_;
  llvm::IRBuilder<>& builder_;
  SiteTable& sites_;
};

}  // namespace

void instrument(SourceModule& source) {
  source.checked = true;
  expose_accesses(source);
  Instrumenter(source).run();
}

void export_checks(llvm::Module& module) {
  module.getGlobalVariable("gpulua_checks", /*AllowInternal=*/true)->setLinkage(llvm::GlobalValue::ExternalLinkage);
}

}  // namespace gpulua::cpu
