#include "src/device/cpu/front_end/skip_host_code.h"

#include <clang/AST/Attr.h>
#include <clang/AST/Decl.h>
#include <clang/AST/DeclTemplate.h>

#include "src/device/shared/host_code.h"

namespace gpulua::cpu {
namespace {

class HostBodies : public clang::ASTConsumer {
  bool shouldSkipFunctionBody(clang::Decl* declaration) override {
    const clang::FunctionDecl* function = declaration->getAsFunction();
    return function != nullptr && !function->hasAttr<clang::CUDADeviceAttr>() &&
           !function->hasAttr<clang::CUDAGlobalAttr>();
  }
};

class HostHeaders : public clang::PPCallbacks {
  bool FileNotFound(llvm::StringRef name) override { return is_host_header(name); }
};

}  // namespace

std::unique_ptr<clang::ASTConsumer> skip_host_bodies() {
  return std::make_unique<HostBodies>();
}

std::unique_ptr<clang::PPCallbacks> skip_host_headers() {
  return std::make_unique<HostHeaders>();
}

}  // namespace gpulua::cpu
