#include "src/device/cpu/ir/shared_layout.h"

#include <llvm/Support/MathExtras.h>

#include <algorithm>

#include "src/device/cpu/ir/reachable.h"

namespace gpulua::cpu {
namespace {

constexpr std::uint64_t block_alignment = 128;

}  // namespace

SharedLayout lay_out_shared(const SourceModule& source) {
  SharedLayout layout;
  std::vector<llvm::GlobalVariable*> variables;
  for (const std::string& symbol : source.shared) {
    llvm::GlobalVariable* variable = source.module->getGlobalVariable(symbol, /*AllowInternal=*/true);
    (variable->isDeclaration() ? layout.dynamic : variables).push_back(variable);
  }

  std::map<llvm::GlobalVariable*, std::vector<std::uint64_t*>> users;  // the sizes of the kernels that use a variable
  for (const SourceKernel& kernel : source.kernels) {
    std::uint64_t& bytes = layout.kernel_bytes[kernel.symbol];
    const auto reachable = reachable_from(*source.module->getFunction(kernel.symbol));
    for (llvm::GlobalVariable* variable : variables)
      if (reachable.contains(variable)) users[variable].push_back(&bytes);
  }

  // Each variable follows those that its kernels use so far.
  const llvm::DataLayout& data = source.module->getDataLayout();
  for (llvm::GlobalVariable* variable : variables) {
    std::uint64_t offset = 0;
    for (std::uint64_t* bytes : users[variable]) offset = std::max(offset, *bytes);
    offset = llvm::alignTo(offset, variable->getAlign().valueOrOne());
    layout.offsets[variable] = offset;
    for (std::uint64_t* bytes : users[variable]) *bytes = offset + data.getTypeAllocSize(variable->getValueType());
  }
  for (auto& [symbol, bytes] : layout.kernel_bytes) bytes = llvm::alignTo(bytes, block_alignment);
  return layout;
}

}  // namespace gpulua::cpu
