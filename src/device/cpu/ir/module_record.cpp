#include "src/device/cpu/ir/module_record.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <set>

#include "src/device/cpu/ir/heap_calls.h"
#include "src/device/cpu/ir/variables.h"

namespace gpulua::cpu {
namespace {

class RecordBuilder {
 public:
  explicit RecordBuilder(llvm::Module& module) : module_(module), builder_(module.getContext()) {}

  llvm::Constant* text(const std::string& value) {
    return constant(llvm::ConstantDataArray::getString(module_.getContext(), value), llvm::GlobalValue::PrivateLinkage,
                    "");
  }
  llvm::Constant* u32(std::uint64_t value) { return builder_.getInt32(static_cast<std::uint32_t>(value)); }
  llvm::Constant* u64(std::uint64_t value) { return builder_.getInt64(value); }
  llvm::Constant* function(llvm::Function* function) {
    if (function != nullptr) return function;
    return llvm::ConstantPointerNull::get(builder_.getPtrTy());
  }
  llvm::Constant* record(std::vector<llvm::Constant*> fields) {
    return llvm::ConstantStruct::getAnon(module_.getContext(), fields);
  }
  llvm::Constant* table(const std::vector<llvm::Constant*>& rows) {
    if (rows.empty()) return llvm::ConstantPointerNull::get(builder_.getPtrTy());
    auto* type = llvm::ArrayType::get(rows.front()->getType(), rows.size());
    return constant(llvm::ConstantArray::get(type, rows), llvm::GlobalValue::PrivateLinkage, "");
  }
  llvm::GlobalVariable* constant(llvm::Constant* value, llvm::GlobalValue::LinkageTypes linkage, const char* name) {
    return new llvm::GlobalVariable(module_, value->getType(), true, linkage, value, name);
  }

 private:
  llvm::Module& module_;
  llvm::IRBuilder<> builder_;
};

/// Makes all definitions internal: the record alone is exported.
void hide_definitions(llvm::Module& module) {
  for (llvm::GlobalObject& object : module.global_objects()) {
    if (object.isDeclaration()) continue;
    object.setComdat(nullptr);
    object.setLinkage(llvm::GlobalValue::InternalLinkage);
    object.setVisibility(llvm::GlobalValue::DefaultVisibility);
  }
  for (const char* keep : {"llvm.used", "llvm.compiler.used"})
    if (llvm::GlobalVariable* list = module.getGlobalVariable(keep)) list->eraseFromParent();
}

}  // namespace

void add_module_record(SourceModule& source, const std::vector<KernelCode>& kernels) {
  llvm::Module& module = *source.module;
  RecordBuilder builder(module);
  std::vector<llvm::Constant*> kernel_rows, global_rows, place_rows, function_rows;
  for (const KernelCode& kernel : kernels)
    kernel_rows.push_back(builder.record(
        {builder.text(kernel.symbol), builder.function(kernel.run), builder.function(kernel.run_fiber),
         builder.u32(kernel.threads_per_fiber), builder.u32(static_cast<unsigned>(kernel.block_rule)),
         builder.u64(kernel.shared_bytes), builder.u64(kernel.local_bytes), builder.u32(kernel.max_threads)}));
  for (const auto& [symbol, place] : source.places) place_rows.push_back(builder.record({builder.text(symbol), place}));
  std::set<llvm::Function*> functions;
  for (const GlobalEntry& global : source.globals) {
    llvm::GlobalVariable* variable = module.getGlobalVariable(global.symbol, /*AllowInternal=*/true);
    global_rows.push_back(builder.record({builder.text(global.symbol), variable}));
    for (llvm::GlobalValue* other : references_of(*variable))
      if (auto* function = llvm::dyn_cast<llvm::Function>(other); function != nullptr && !function->isDeclaration())
        functions.insert(function);
  }
  for (llvm::GlobalVariable* variable : source.exports)
    global_rows.push_back(builder.record({builder.text(variable->getName().str()), variable}));
  for (llvm::Function* function : functions)
    function_rows.push_back(builder.record({builder.text(function->getName().str()), function}));
  llvm::Constant* heap = define_heap_functions(module);
  hide_definitions(module);
  builder.constant(
      builder.record({builder.u32(abi_version), builder.u32(kernel_rows.size()), builder.u32(global_rows.size()),
                      builder.table(kernel_rows), builder.table(global_rows), builder.u32(place_rows.size()),
                      builder.table(place_rows), builder.u32(function_rows.size()), builder.table(function_rows),
                      heap}),
      llvm::GlobalValue::ExternalLinkage, "gpulua_module");
}

}  // namespace gpulua::cpu
