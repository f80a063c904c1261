#include "src/device/cpu/front_end/print_result.h"

#include <llvm/IR/IRBuilder.h>

#include "src/device/cpu/ir/collect.h"

namespace gpulua::cpu {

void count_printed_arguments(llvm::Module& module) {
  const llvm::Function* print = module.getFunction("printf");
  if (print == nullptr || !print->isDeclaration()) return;
  const auto gives_result = [print](const llvm::CallInst& call) {
    return call.getCalledFunction() == print && !call.use_empty();
  };
  for (llvm::CallInst* call : collect<llvm::CallInst>(module, gives_result)) {
    llvm::IRBuilder<> builder(call->getNextNode());
    llvm::Value* failed = builder.CreateICmpSLT(call, builder.getInt32(0));
    llvm::Value* result = builder.CreateSelect(failed, builder.getInt32(-1), builder.getInt32(call->arg_size() - 1));
    call->replaceUsesWithIf(result, [failed](const llvm::Use& use) { return use.getUser() != failed; });
  }
}

}  // namespace gpulua::cpu
