#include "src/device/cpu/compiler/instrument.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/ReplaceConstant.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/Utils/Mem2Reg.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "src/device/cpu/compiler/site_table.h"
#include "src/device/cpu/ir/analyses.h"

namespace gpulua::cpu {
namespace {

constexpr const char* checks_symbol = "gpulua_checks";
constexpr const char* context_variable = "gpulua_thread_context";

/// True for prelude functions that call the runtime: the memory that they access is the runtime's.
bool is_prelude_internal(const llvm::Function& function) {
  return function.getName().contains("gpulua_");
}

/// True for members of gpulua_raw<T>: they access an array at indices that a script's function computes.
bool is_raw_access(const llvm::Function& function) {
  return function.getName().starts_with("_ZNK10gpulua_raw");
}

// ---- before the accesses are looked at
// ----------------------------------------------------------------------------------

/// Inlines device functions and turns local variables into values, so that an access shows which variable or parameter
/// it goes to, and so that only variables with an address are left to check.
void expose_accesses(const SourceModule& source) {
  llvm::Module& module = *source.module;
  for (llvm::Function& function : module) {
    const bool is_kernel = std::ranges::any_of(
        source.kernels, [&](const SourceKernel& kernel) { return function.getName() == kernel.symbol; });
    if (function.isDeclaration() || is_kernel || is_prelude_internal(function) ||
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

// ---- accesses
// -----------------------------------------------------------------------------------------------------------

struct Access {
  llvm::Instruction* instruction;
  llvm::Value* pointer;
  llvm::Value* bytes;              // i64
  llvm::Value* written = nullptr;  // what a plain store writes
  unsigned kind;
  unsigned align;
};

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
      add(instruction, update->getPointerOperand(), update->getType(), access::read | access::write | access::atomic,
          update->getAlign());
    } else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
      add(instruction, exchange->getPointerOperand(), exchange->getNewValOperand()->getType(),
          access::read | access::write | access::atomic, exchange->getAlign());
    } else if (auto* memory = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction)) {
      if (auto* transfer = llvm::dyn_cast<llvm::MemTransferInst>(memory))
        add_bytes(instruction, transfer->getRawSource(), memory->getLength(), access::read, transfer->getSourceAlign());
      add_bytes(instruction, memory->getRawDest(), memory->getLength(), access::write, memory->getDestAlign());
    }
    if (instruction.isAtomic() && !list_.empty() && list_.back().instruction == &instruction)
      list_.back().kind |= access::atomic;
  }

  const std::vector<Access>& list() const { return list_; }

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

/// What the arithmetic that gives `pointer` starts at: a variable or a parameter through loops and branches, where all
/// of them start at one.
llvm::Value* find_base(llvm::Value* pointer) {
  llvm::SmallVector<const llvm::Value*, 4> objects;
  llvm::getUnderlyingObjects(pointer, objects, nullptr, /*MaxLookup=*/0);
  if (objects.size() == 1 && llvm::isa<llvm::Argument, llvm::GlobalVariable, llvm::AllocaInst>(objects.front()))
    return const_cast<llvm::Value*>(objects.front());
  return llvm::getUnderlyingObject(pointer, /*MaxLookup=*/0);
}

class Instrumenter {
 public:
  explicit Instrumenter(SourceModule& source)
      : source_(source), module_(*source.module), builder_(module_.getContext()), sites_(source) {
    auto* pointer = builder_.getPtrTy();
    checks_ = new llvm::GlobalVariable(module_, llvm::StructType::get(pointer, pointer, builder_.getInt32Ty(), pointer),
                                       false, llvm::GlobalValue::ExternalLinkage, nullptr, checks_symbol);
    context_ = module_.getGlobalVariable(context_variable);
  }

  void run() {
    std::vector<llvm::Function*> functions;
    for (llvm::Function& function : module_)
      if (!function.isDeclaration() && (!is_prelude_internal(function) || is_raw_access(function)))
        functions.push_back(&function);
    for (llvm::Function* function : functions) {
      instrument_accesses(*function);
      instrument_synchronization(*function);
    }
    for (const SourceKernel& kernel : source_.kernels) instrument_ends(*module_.getFunction(kernel.symbol));
    define_checks(add_places());
  }

 private:
  void instrument_accesses(llvm::Function& function) {
    AccessList accesses(module_);
    for (llvm::Instruction& instruction : llvm::instructions(function)) accesses.add(instruction);
    for (const Access& access : accesses.list()) instrument_access(access);
  }

  void instrument_access(const Access& access) {
    llvm::Value* base = find_base(access.pointer);
    // The built-in variables are places in the context.
    if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(base))
      if (variable->isDeclaration() && !sites_.is_shared(*variable)) return;
    if (is_plainly_right(*base, access)) return;

    const auto* length = llvm::dyn_cast<llvm::ConstantInt>(access.bytes);
    llvm::Constant* object = sites_.object(*base, *access.pointer, length != nullptr ? length->getZExtValue() : 1);
    builder_.SetInsertPoint(access.instruction);
    builder_.SetCurrentDebugLocation(access.instruction->getDebugLoc());
    llvm::Value* value = written_bits(access.written);
    const unsigned kind = access.kind | (value != nullptr ? access::value : 0);
    call_hook(offsetof(CheckHooks, access),
              {base, access.pointer, builder_.CreateZExtOrTrunc(access.bytes, builder_.getInt64Ty()),
               value != nullptr ? value : builder_.getInt64(0),
               sites_.site(*access.instruction, kind, access.align, object)});
  }

  /// True for an access at a constant place within a variable that one thread has to itself, or that is not checked for
  /// races.
  bool is_plainly_right(const llvm::Value& base, const Access& access) const {
    const auto* length = llvm::dyn_cast<llvm::ConstantInt>(access.bytes);
    const std::uint64_t size = sites_.known_bytes(base);
    if (length == nullptr || size == 0 || sites_.is_shared(base)) return false;
    const llvm::DataLayout& layout = module_.getDataLayout();
    llvm::APInt offset(layout.getIndexTypeSizeInBits(access.pointer->getType()), 0);
    const llvm::Value* start =
        access.pointer->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true);
    if (start != &base || offset.isNegative()) return false;
    return offset.getZExtValue() <= size && length->getZExtValue() <= size - offset.getZExtValue();
  }

  /// The value as 64 bits; null if there is none or it is wider.
  llvm::Value* written_bits(llvm::Value* value) {
    if (value == nullptr) return nullptr;
    llvm::Type* type = value->getType();
    if (type->isPointerTy()) return builder_.CreatePtrToInt(value, builder_.getInt64Ty());
    const unsigned bits = static_cast<unsigned>(type->getPrimitiveSizeInBits().getFixedValue());
    if (bits == 0 || bits > 64) return nullptr;
    value = builder_.CreateBitCast(builder_.CreateFreeze(value), builder_.getIntNTy(bits));
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
        Row{"gpulua_grid_barrier", offsetof(CheckHooks, barrier)},
        Row{"gpulua_tile_barrier", offsetof(CheckHooks, tile_barrier)},
        Row{"gpulua_warp_barrier", offsetof(CheckHooks, warp_barrier)},
        Row{"gpulua_shuffle", offsetof(CheckHooks, warp_barrier)},
        Row{"gpulua_ballot", offsetof(CheckHooks, warp_barrier)},
    };
    std::vector<std::pair<llvm::CallInst*, std::size_t>> calls;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (call == nullptr || call->getCalledFunction() == nullptr) continue;
      for (const Row& row : rows)
        if (call->getCalledFunction()->getName() == row.name) calls.emplace_back(call, row.hook);
    }
    for (const auto& [call, hook] : calls) {
      builder_.SetInsertPoint(call);
      builder_.SetCurrentDebugLocation(call->getDebugLoc());
      std::vector<llvm::Value*> arguments{sites_.site(*call, 0, 0, nullptr)};
      if (hook == offsetof(CheckHooks, tile_barrier)) arguments.push_back(call->getArgOperand(0));
      call_hook(hook, std::move(arguments));
    }
  }

  void instrument_ends(llvm::Function& kernel) {
    for (llvm::BasicBlock& block : kernel) {
      auto* end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator());
      if (end == nullptr) continue;
      builder_.SetInsertPoint(end);
      builder_.SetCurrentDebugLocation(end->getDebugLoc());
      call_hook(offsetof(CheckHooks, end), {});
    }
  }

  void call_hook(std::size_t hook, std::vector<llvm::Value*> arguments) {
    if (context_ == nullptr)
      context_ = new llvm::GlobalVariable(module_, builder_.getInt8Ty(), true, llvm::GlobalValue::ExternalLinkage,
                                          nullptr, context_variable);
    llvm::LoadInst* hooks = load(checks_, offsetof(ModuleChecks, hooks));
    llvm::LoadInst* launch = load(checks_, offsetof(ModuleChecks, launch));
    llvm::LoadInst* function = load(hooks, hook);
    arguments.insert(arguments.begin(), {launch, context_});
    std::vector<llvm::Type*> types;
    for (llvm::Value* argument : arguments) types.push_back(argument->getType());
    builder_.CreateCall(llvm::FunctionType::get(builder_.getVoidTy(), types, false), function, arguments);
  }

  llvm::LoadInst* load(llvm::Value* from, std::size_t offset) {
    return builder_.CreateLoad(builder_.getPtrTy(),
                               builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), from, offset));
  }

  /// Replaces each global variable by an address that is read at run time. Returns the GlobalPlaces.
  std::vector<llvm::Constant*> add_places() {
    std::vector<llvm::Constant*> rows;
    for (const GlobalEntry& global : source_.globals) {
      llvm::GlobalVariable* variable = module_.getGlobalVariable(global.symbol, /*AllowInternal=*/true);
      llvm::convertUsersOfConstantsToInstructions({variable});
      std::vector<llvm::Use*> uses;
      for (llvm::Use& use : variable->uses())
        if (llvm::isa<llvm::Instruction>(use.getUser())) uses.push_back(&use);
      auto* place = new llvm::GlobalVariable(module_, builder_.getPtrTy(), false, llvm::GlobalValue::InternalLinkage,
                                             variable, global.symbol + ".place");
      place->setExternallyInitialized(true);
      std::map<llvm::Function*, llvm::Value*> addresses;
      for (llvm::Use* use : uses) {
        llvm::Function* function = llvm::cast<llvm::Instruction>(use->getUser())->getFunction();
        llvm::Value*& address = addresses[function];
        if (address == nullptr) {
          builder_.SetInsertPoint(&*function->getEntryBlock().getFirstInsertionPt());
          builder_.SetCurrentDebugLocation(llvm::DebugLoc());
          address = load(place, 0);
        }
        use->set(address);
      }
      rows.push_back(llvm::ConstantStruct::getAnon({sites_.text(global.symbol), place}));
    }
    return rows;
  }

  void define_checks(const std::vector<llvm::Constant*>& places) {
    llvm::Constant* null = llvm::ConstantPointerNull::get(builder_.getPtrTy());
    llvm::Constant* table = null;
    if (!places.empty())
      table = sites_.constant(
          llvm::ConstantArray::get(llvm::ArrayType::get(places.front()->getType(), places.size()), places));
    checks_->setInitializer(llvm::ConstantStruct::getAnon(
        {null, null, builder_.getInt32(static_cast<std::uint32_t>(places.size())), table}));
  }

  SourceModule& source_;
  llvm::Module& module_;
  llvm::IRBuilder<> builder_;
  SiteTable sites_;
  llvm::GlobalVariable* checks_;
  llvm::GlobalVariable* context_;
};

}  // namespace

void instrument(SourceModule& source) {
  source.checked = true;
  expose_accesses(source);
  Instrumenter(source).run();
}

void export_checks(llvm::Module& module) {
  module.getGlobalVariable(checks_symbol, /*AllowInternal=*/true)->setLinkage(llvm::GlobalValue::ExternalLinkage);
}

}  // namespace gpulua::cpu
