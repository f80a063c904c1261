#include "src/device/cpu/ir/variables.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/ReplaceConstant.h>

#include <algorithm>
#include <map>
#include <set>

namespace gpulua::cpu {
namespace {

/// Adds the functions and variables that the constant refers to.
void add_references(llvm::Value& constant, std::set<llvm::GlobalValue*>& references) {
  if (auto* global = llvm::dyn_cast<llvm::GlobalValue>(&constant)) {
    references.insert(global);
  } else if (auto* user = llvm::dyn_cast<llvm::Constant>(&constant)) {
    for (llvm::Use& use : user->operands()) add_references(*use, references);
  }
}

}  // namespace

std::set<llvm::GlobalValue*> references_of(const llvm::GlobalVariable& variable) {
  std::set<llvm::GlobalValue*> references;
  for (const llvm::Use& value : variable.operands()) add_references(*value, references);
  return references;
}

std::vector<llvm::GlobalVariable*> list_variables(const SourceModule& source) {
  std::vector<llvm::GlobalVariable*> candidates;
  std::set<llvm::GlobalValue*> found;
  for (llvm::GlobalVariable& variable : source.module->globals()) {
    const bool is_shared = std::ranges::find(source.shared, variable.getName()) != source.shared.end();
    if (variable.isDeclaration() || variable.isThreadLocal() || is_shared || variable.getName().starts_with("llvm."))
      continue;
    candidates.push_back(&variable);
    if (!variable.isConstant()) found.insert(&variable);
  }
  for (std::size_t before = 0; before != found.size();) {
    before = found.size();
    for (llvm::GlobalVariable* variable : candidates)
      if (std::ranges::any_of(references_of(*variable), [&](auto* other) { return found.contains(other); }))
        found.insert(variable);
  }
  std::erase_if(candidates, [&](llvm::GlobalVariable* variable) { return !found.contains(variable); });
  return candidates;
}

bool can_be_shared(const std::vector<llvm::GlobalVariable*>& variables) {
  return std::ranges::none_of(variables, [](const llvm::GlobalVariable* variable) {
    return std::ranges::any_of(references_of(*variable),
                               [](const auto* other) { return llvm::isa<llvm::Function>(other); });
  });
}

llvm::GlobalVariable* add_place(llvm::GlobalVariable& variable) {
  llvm::convertUsersOfConstantsToInstructions({&variable});
  std::vector<llvm::Use*> uses;
  for (llvm::Use& use : variable.uses())
    if (llvm::isa<llvm::Instruction>(use.getUser())) uses.push_back(&use);
  llvm::IRBuilder<> builder(variable.getContext());
  auto* place =
      new llvm::GlobalVariable(*variable.getParent(), builder.getPtrTy(), false, llvm::GlobalValue::InternalLinkage,
                               llvm::ConstantPointerNull::get(builder.getPtrTy()), variable.getName() + ".place");
  place->setExternallyInitialized(true);
  std::map<llvm::Function*, llvm::Value*> addresses;
  for (llvm::Use* use : uses) {
    llvm::Function* function = llvm::cast<llvm::Instruction>(use->getUser())->getFunction();
    llvm::Value*& address = addresses[function];
    if (address == nullptr) {
      builder.SetInsertPoint(&*function->getEntryBlock().getFirstInsertionPt());
      llvm::LoadInst* load = builder.CreateLoad(builder.getPtrTy(), place);
      load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(builder.getContext(), {}));
      address = load;
    }
    use->set(address);
  }
  return place;
}

}  // namespace gpulua::cpu
