#include "src/device/cpu/front_end/inline_assembly.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/GlobalDecl.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "src/base/error.h"
#include "src/device/cpu/ir/collect.h"
#include "src/device/cpu/ptx/ptx_functions.h"
#include "src/device/cpu/ptx/ptx_translation.h"

namespace gpulua::cpu {
namespace {

/// Finds the text of all inline assembly.
class AssemblyVisitor : public clang::RecursiveASTVisitor<AssemblyVisitor> {
 public:
  AssemblyVisitor(const clang::ASTContext& ast, std::set<std::string>& symbols) : ast_(ast), symbols_(symbols) {}
  bool VisitGCCAsmStmt(clang::GCCAsmStmt* statement) {
    try {
      for (const std::string& symbol : ptx_symbols(statement->generateAsmString(ast_))) symbols_.insert(symbol);
    } catch (const Error&) {
      // replace_inline_assembly() says what is wrong, where the code is used.
    }
    return true;
  }

 private:
  const clang::ASTContext& ast_;
  std::set<std::string>& symbols_;
};

/// Whether any text that clang has read may have assembly. Most sources have none, and nobody has to walk their trees.
bool may_have_assembly(const clang::SourceManager& sources) {
  for (auto file = sources.fileinfo_begin(); file != sources.fileinfo_end(); ++file)
    if (const auto text = file->second->getBufferDataIfLoaded(); text && text->contains("asm")) return true;
  return false;
}

class AssemblyFunctions : public clang::ASTConsumer {
 public:
  explicit AssemblyFunctions(clang::CodeGenerator& generator) : generator_(generator) {}

  bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
    declarations_.insert(declarations_.end(), group.begin(), group.end());
    return true;
  }
  void HandleTranslationUnit(clang::ASTContext& ast) override {
    if (ast.getDiagnostics().hasErrorOccurred() || !may_have_assembly(ast.getSourceManager())) return;
    std::set<std::string> symbols;
    AssemblyVisitor visitor(ast, symbols);
    for (clang::Decl* declaration : declarations_) visitor.TraverseDecl(declaration);
    for (const std::string& symbol : symbols)
      for (const clang::NamedDecl* found : ast.getTranslationUnitDecl()->lookup(&ast.Idents.get(symbol)))
        if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(found))
          generator_.GetAddrOfGlobal(clang::GlobalDecl(function), /*isForDefinition=*/false);
  }

 private:
  clang::CodeGenerator& generator_;
  std::vector<clang::Decl*> declarations_;
};

std::string place_of(const llvm::CallInst& call) {
  const llvm::DebugLoc& location = call.getDebugLoc();
  return location ? location->getFilename().str() + ":" + std::to_string(location.getLine()) + ": " : "";
}

/// The calls of functions that use the value, but for those of a function by itself.
std::vector<llvm::CallInst*> calls_of_users(const llvm::Value& value) {
  std::set<const llvm::Function*> functions;
  for (const llvm::User* user : value.users())
    if (const auto* instruction = llvm::dyn_cast<llvm::Instruction>(user)) functions.insert(instruction->getFunction());
  std::vector<llvm::CallInst*> calls;
  for (const llvm::Function* function : functions)
    for (const llvm::User* user : function->users())
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(const_cast<llvm::User*>(user)))
        if (call->getCalledFunction() == function && call->getFunction() != function) calls.push_back(call);
  return calls;
}

/// Makes functions that use the value parts of their callers, up to kernels and functions that call each other in a
/// circle.
void inline_users(const llvm::Value& value) {
  constexpr int deepest = 100;
  for (int depth = 0; depth < deepest; ++depth) {
    const std::vector<llvm::CallInst*> calls = calls_of_users(value);
    if (calls.empty()) break;
    for (llvm::CallInst* call : calls) {
      llvm::InlineFunctionInfo information;
      llvm::InlineFunction(*call, information);
    }
  }
}

/// PTX's exit returns from the kernel that it is in.
void place_exits(SourceModule& source) {
  llvm::Function* exit = source.module->getFunction(ptx_symbol("exit"));
  if (exit == nullptr) return;
  inline_users(*exit);
  std::vector<llvm::CallInst*> calls;
  for (llvm::User* user : exit->users())
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(user))
      if (std::ranges::any_of(source.kernels, [&](const SourceKernel& kernel) {
            return call->getFunction()->getName() == kernel.symbol;
          }))
        calls.push_back(call);
  for (llvm::CallInst* call : calls) {
    llvm::BasicBlock* block = call->getParent();
    llvm::SplitBlock(block, call);
    block->getTerminator()->eraseFromParent();
    llvm::ReturnInst::Create(call->getContext(), block);
    call->eraseFromParent();
  }
}

/// The carry of PTX's add.cc is a register of the thread. Functions that use it become part of their callers, and each
/// kernel has a variable for it. Functions that call each other in a circle keep one of their own.
void place_carry(llvm::Module& module) {
  llvm::GlobalVariable* carry = module.getGlobalVariable("gpulua_ptx_carry");
  if (carry == nullptr) return;
  inline_users(*carry);
  std::map<llvm::Function*, llvm::Value*> variables;
  std::vector<llvm::Use*> uses;
  for (llvm::Use& use : carry->uses()) uses.push_back(&use);
  for (llvm::Use* use : uses) {
    llvm::Function& function = *llvm::cast<llvm::Instruction>(use->getUser())->getFunction();
    llvm::Value*& variable = variables[&function];
    if (variable == nullptr) {
      llvm::IRBuilder<> builder(&function.getEntryBlock(), function.getEntryBlock().begin());
      variable = builder.CreateAlloca(builder.getInt32Ty());
    }
    use->set(variable);
  }
  carry->eraseFromParent();
}

}  // namespace

std::unique_ptr<clang::ASTConsumer> assembly_functions(clang::CodeGenerator& generator) {
  return std::make_unique<AssemblyFunctions>(generator);
}

void replace_inline_assembly(SourceModule& source) {
  llvm::Module& module = *source.module;
  const auto is_assembly = [](const llvm::CallInst& call) { return call.isInlineAsm(); };
  for (llvm::CallInst* call : collect<llvm::CallInst>(module, is_assembly)) {
    const std::string text = llvm::cast<llvm::InlineAsm>(call->getCalledOperand())->getAsmString();
    if (text.empty() && call->getType()->isVoidTy()) {
      llvm::IRBuilder<>(call).CreateFence(llvm::AtomicOrdering::SequentiallyConsistent, llvm::SyncScope::SingleThread);
      call->eraseFromParent();
      continue;
    }
    const std::string place = place_of(*call);
    try {
      translate_ptx(*call);
    } catch (const Error& error) {
      throw Error(ErrorKind::compile,
                  "[compile] {}in the inline PTX assembly \"{}\": {}; docs/cpu-device.md lists what is known", place,
                  text, error.what());
    }
  }
  for (const llvm::GlobalVariable& variable : module.globals())
    if (variable.getName().starts_with(ptx_shared_prefix)) source.shared.push_back(variable.getName().str());
  place_carry(module);
  place_exits(source);
}

}  // namespace gpulua::cpu
