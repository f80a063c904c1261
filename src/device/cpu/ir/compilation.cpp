#include "src/device/cpu/ir/compilation.h"

#include <llvm/IR/PassInstrumentation.h>

#include "src/base/error.h"
#include "src/device/cpu/abi/compiler_plugin.h"

namespace gpulua::cpu {
namespace {

thread_local Compilation* current = nullptr;

bool is_abandoned() {
  return current != nullptr && current->abandoned.load(std::memory_order_relaxed);
}

}  // namespace

void skip_passes_when_abandoned(llvm::PassInstrumentationCallbacks& callbacks) {
  callbacks.registerShouldRunOptionalPassCallback([](llvm::StringRef, llvm::Any) { return !is_abandoned(); });
}

void check_abandoned() {
  if (is_abandoned()) throw Error(ErrorKind::interrupted, "[compile] interrupted");
}

CurrentCompilation::CurrentCompilation(Compilation* compilation) {
  current = compilation;
}

CurrentCompilation::~CurrentCompilation() {
  current = nullptr;
}

Compilation* CurrentCompilation::get() {
  return current;
}

}  // namespace gpulua::cpu
