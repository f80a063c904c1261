#include "src/device/cpu/compiler/instrument_calls.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>
#include <cstddef>

#include "src/base/error.h"
#include "src/device/cpu/compiler/access_list.h"
#include "src/device/cpu/compiler/linker.h"

namespace gpulua::cpu {
namespace {

/// A pointer parameter of a function of the C library.
struct PointerParameter {
  llvm::StringRef function;
  unsigned index;
  unsigned kind;   // of access::
  unsigned bytes;  // 0: as many as the third argument says
  bool is_text = false;
};

constexpr PointerParameter pointer_parameters[] = {
    {"frexp", 1, access::write, 4},
    {"frexpf", 1, access::write, 4},
    {"modf", 1, access::write, 8},
    {"modff", 1, access::write, 4},
    {"remquo", 2, access::write, 4},
    {"remquof", 2, access::write, 4},
    {"sincos", 1, access::write, 8},
    {"sincos", 2, access::write, 8},
    {"sincosf", 1, access::write, 4},
    {"sincosf", 2, access::write, 4},
    {"memcmp", 0, access::read | access::copy, 0},
    {"memcmp", 1, access::read | access::copy, 0},
    {"strlen", 0, access::read, 1, true},
    {"nan", 0, access::read, 1, true},
    {"nanf", 0, access::read, 1, true},
};

/// Functions that are checked elsewhere: the heap's, and those that clang makes intrinsics of.
constexpr llvm::StringRef known_functions[] = {"malloc", "free", "memcpy", "memmove", "memset", "printf"};

/// Operations with pointers that access no memory, or that of the thread's own frames.
bool is_harmless(llvm::Intrinsic::ID operation) {
  switch (operation) {
    case llvm::Intrinsic::lifetime_start:
    case llvm::Intrinsic::lifetime_end:
    case llvm::Intrinsic::invariant_start:
    case llvm::Intrinsic::invariant_end:
    case llvm::Intrinsic::launder_invariant_group:
    case llvm::Intrinsic::strip_invariant_group:
    case llvm::Intrinsic::ptr_annotation:
    case llvm::Intrinsic::var_annotation:
    case llvm::Intrinsic::prefetch:
    case llvm::Intrinsic::stacksave:
    case llvm::Intrinsic::stackrestore:
    case llvm::Intrinsic::vastart:
    case llvm::Intrinsic::vaend:
    case llvm::Intrinsic::vacopy:
    case llvm::Intrinsic::assume:
    case llvm::Intrinsic::is_constant:
    case llvm::Intrinsic::objectsize:
    case llvm::Intrinsic::ptrmask:
    case llvm::Intrinsic::threadlocal_address:
      return true;
    default:
      return false;
  }
}

[[noreturn]] void refuse(const llvm::Instruction& place, const std::string& what) {
  const llvm::DebugLoc& location = place.getDebugLoc();
  const std::string line =
      location ? location->getFilename().str() + ":" + std::to_string(location.getLine()) + ": " : "";
  throw Error(ErrorKind::compile, "[compile] {}a kernel that is checked cannot use {}", line, what);
}

class Calls {
 public:
  explicit Calls(HookCalls& hooks) : hooks_(hooks), builder_(hooks.builder()) {}

  void instrument(llvm::CallInst& call) {
    if (call.isInlineAsm()) return;
    hooks_.go_to(call);
    if (const auto* operation = llvm::dyn_cast<llvm::IntrinsicInst>(&call)) return look_at(*operation);
    const auto* callee = llvm::dyn_cast<llvm::Function>(call.getCalledOperand()->stripPointerCasts());
    if (callee == nullptr) return through_pointer(call);
    if (callee->isDeclaration()) outside(call, callee->getName());
  }

 private:
  void look_at(const llvm::IntrinsicInst& operation) {
    if (llvm::isa<llvm::MemIntrinsic, llvm::DbgInfoIntrinsic>(operation) || is_harmless(operation.getIntrinsicID()))
      return;
    const bool has_pointer = operation.getType()->isPtrOrPtrVectorTy() ||
                             std::ranges::any_of(operation.args(), [](const llvm::Use& argument) {
                               return argument->getType()->isPtrOrPtrVectorTy();
                             });
    const bool is_processors = operation.getCalledFunction()->getName().starts_with("llvm.x86.");
    if (has_pointer || (is_processors && operation.mayReadOrWriteMemory()))
      refuse(operation, "the operation " + operation.getCalledFunction()->getName().str());
  }

  void through_pointer(llvm::CallInst& call) {
    call.setCalledOperand(hooks_.call(offsetof(CheckHooks, call),
                                      {call.getCalledOperand(), hooks_.sites().site(call, 0, 1, nullptr)},
                                      builder_.getPtrTy()));
  }

  void outside(llvm::CallInst& call, llvm::StringRef name) {
    if (name == "printf") return print(call);
    bool is_known = false;
    for (const PointerParameter& parameter : pointer_parameters) {
      if (parameter.function != name || parameter.index >= call.arg_size()) continue;
      is_known = true;
      access(call, parameter);
    }
    if (is_known || std::ranges::find(known_functions, name) != std::end(known_functions)) return;
    const bool has_pointer =
        std::ranges::any_of(call.args(), [](const llvm::Use& argument) { return argument->getType()->isPointerTy(); });
    if (has_pointer || call.getType()->isPointerTy() || !is_math_function(name.str()))
      refuse(call, "the function '" + name.str() + "', which is not the device's");
  }

  /// Of the bytes of a string, whatever it is in.
  llvm::Constant* text_site(llvm::CallInst& call) {
    const llvm::Constant& nothing = *llvm::ConstantPointerNull::get(builder_.getPtrTy());
    return hooks_.sites().site(call, access::read, 1, hooks_.sites().object(nothing, nothing, 1));
  }

  void access(llvm::CallInst& call, const PointerParameter& parameter) {
    llvm::Value* pointer = call.getArgOperand(parameter.index);
    if (parameter.is_text) {
      hooks_.call(offsetof(CheckHooks, text), {pointer, text_site(call)});
      return;
    }
    llvm::Value* base = find_base(pointer);
    llvm::Constant* object = hooks_.sites().object(*base, *pointer, std::max(parameter.bytes, 1u));
    llvm::Constant* site = hooks_.sites().site(call, parameter.kind, 1, object);
    llvm::Value* bytes = parameter.bytes != 0
                             ? builder_.getInt64(parameter.bytes)
                             : builder_.CreateZExtOrTrunc(call.getArgOperand(2), builder_.getInt64Ty());
    hooks_.call(offsetof(CheckHooks, access), {base, pointer, bytes, builder_.getInt64(0), site});
  }

  void print(llvm::CallInst& call) {
    std::vector<llvm::Value*> arguments{text_site(call)};
    arguments.insert(arguments.end(), call.arg_begin(), call.arg_end());
    llvm::CallInst* checked =
        hooks_.call_variadic(offsetof(CheckHooks, print), std::move(arguments), 2, call.getType());
    call.replaceAllUsesWith(checked);
    call.eraseFromParent();
  }

  HookCalls& hooks_;
  llvm::IRBuilder<>& builder_;
};

}  // namespace

std::vector<llvm::CallInst*> list_calls(llvm::Function& function) {
  std::vector<llvm::CallInst*> calls;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) calls.push_back(call);
    if (llvm::isa<llvm::InvokeInst, llvm::CallBrInst>(instruction)) refuse(instruction, "exceptions");
  }
  return calls;
}

void instrument_calls(const std::vector<llvm::CallInst*>& calls, HookCalls& hooks) {
  Calls all(hooks);
  for (llvm::CallInst* call : calls) all.instrument(*call);
}

}  // namespace gpulua::cpu
