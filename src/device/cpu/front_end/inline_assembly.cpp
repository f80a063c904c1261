#include "src/device/cpu/front_end/inline_assembly.h"

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>

#include "src/base/error.h"
#include "src/device/cpu/ir/collect.h"

namespace gpulua::cpu {
namespace {

[[noreturn]] void refuse(const llvm::CallInst& call, const llvm::InlineAsm& assembly) {
  std::string place;
  if (const llvm::DebugLoc& location = call.getDebugLoc())
    place = location->getFilename().str() + ":" + std::to_string(location.getLine()) + ": ";
  std::string text = assembly.getAsmString();
  throw Error(ErrorKind::compile,
              "[compile] {}expected CUDA C++, got inline PTX assembly, which the CPU device has none of: \"{}\"; an "
              "intrinsic function may do the same",
              place, text);
}

}  // namespace

void replace_inline_assembly(llvm::Module& module) {
  const auto is_assembly = [](const llvm::CallInst& call) { return call.isInlineAsm(); };
  for (llvm::CallInst* call : collect<llvm::CallInst>(module, is_assembly)) {
    const auto& assembly = *llvm::cast<llvm::InlineAsm>(call->getCalledOperand());
    if (!assembly.getAsmString().empty() || !call->getType()->isVoidTy()) refuse(*call, assembly);
    llvm::IRBuilder<>(call).CreateFence(llvm::AtomicOrdering::SequentiallyConsistent, llvm::SyncScope::SingleThread);
    call->eraseFromParent();
  }
}

}  // namespace gpulua::cpu
