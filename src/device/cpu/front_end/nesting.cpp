#include "src/device/cpu/front_end/nesting.h"

#include <clang/AST/Decl.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclGroup.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace gpulua::cpu {
namespace {

bool branches(const clang::Stmt& statement) {
  if (const auto* operation = llvm::dyn_cast<clang::BinaryOperator>(&statement)) return operation->isLogicalOp();
  return llvm::isa<clang::IfStmt, clang::ForStmt, clang::WhileStmt, clang::DoStmt, clang::SwitchStmt,
                   clang::AbstractConditionalOperator>(statement);
}

/// Not recursive: the stack would not suffice for deeply nested source.
unsigned depth_of(const clang::Stmt* body) {
  unsigned deepest = 0;
  std::vector<std::pair<const clang::Stmt*, unsigned>> pending{{body, 0}};
  while (!pending.empty()) {
    const auto [statement, above] = pending.back();
    pending.pop_back();
    if (statement == nullptr) continue;
    const unsigned depth = above + branches(*statement);
    deepest = std::max(deepest, depth);
    for (const clang::Stmt* child : statement->children()) pending.emplace_back(child, depth);
  }
  return deepest;
}

unsigned depth_of(const clang::Decl* first) {
  unsigned deepest = 0;
  std::vector<const clang::Decl*> pending{first};
  while (!pending.empty()) {
    const clang::Decl* declaration = pending.back();
    pending.pop_back();
    if (const auto* pattern = llvm::dyn_cast<clang::TemplateDecl>(declaration))
      declaration = pattern->getTemplatedDecl();
    if (declaration == nullptr) continue;
    if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration)) {
      if (function->doesThisDeclarationHaveABody()) deepest = std::max(deepest, depth_of(function->getBody()));
    } else if (llvm::isa<clang::NamespaceDecl, clang::LinkageSpecDecl, clang::CXXRecordDecl>(declaration)) {
      for (const clang::Decl* inner : llvm::cast<clang::DeclContext>(declaration)->noload_decls())
        pending.push_back(inner);
    }
  }
  return deepest;
}

}  // namespace

class Nesting::Consumer : public clang::ASTConsumer {
 public:
  explicit Consumer(Nesting& nesting) : nesting_(nesting) {}

  bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
    for (const clang::Decl* declaration : group) nesting_.depth_ = std::max(nesting_.depth_, depth_of(declaration));
    return true;
  }

 private:
  Nesting& nesting_;
};

std::unique_ptr<clang::ASTConsumer> Nesting::consumer() {
  return std::make_unique<Consumer>(*this);
}

}  // namespace gpulua::cpu
