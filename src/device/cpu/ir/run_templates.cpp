#include "src/device/cpu/ir/run_templates.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/MemoryBufferRef.h>

#include "run_templates_file.h"
#include "src/base/error.h"

namespace gpulua::cpu {
namespace {

// The attributes by which clang names a function's processor.
constexpr const char* processor_attributes[] = {"target-cpu", "target-features", "tune-cpu"};

}  // namespace

llvm::Function& add_template(llvm::Module& module, const char* name, const llvm::Function& like) {
  llvm::Function* function = module.getFunction(name);
  if (function != nullptr && !function->isDeclaration()) return *function;
  const std::string_view bitcode = run_templates_file("run_templates.bc");
  auto templates = llvm::getLazyBitcodeModule({bitcode, "run templates"}, module.getContext());
  if (!templates)
    throw Error(ErrorKind::unavailable, "[compile] LLVM cannot read gpulua's own code: {}",
                llvm::toString(templates.takeError()));
  module.getOrInsertFunction(name, (*templates)->getFunction(name)->getFunctionType());
  if (llvm::Linker::linkModules(module, std::move(*templates), llvm::Linker::LinkOnlyNeeded))
    throw Error(ErrorKind::unavailable, "[compile] LLVM cannot link gpulua's own code: {}", name);
  function = module.getFunction(name);
  for (const char* attribute : processor_attributes) {
    function->removeFnAttr(attribute);
    if (like.hasFnAttribute(attribute)) function->addFnAttr(like.getFnAttribute(attribute));
  }
  return *function;
}

}  // namespace gpulua::cpu
