#pragma once

// Name expressions: how a program calls an instance of a kernel template that it wants, "axpy<float>".

#include <clang/AST/ASTContext.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>

#include <map>

#include "src/device/kernel.h"

namespace gpulua::cpu {

/// What follows the source's text: a use of each name, which instantiates it.
std::string name_uses(const KernelSource& source);

/// The names of each kernel that has been asked for by one. Throws ErrorKind::compile for a name of anything else.
std::map<const clang::FunctionDecl*, std::vector<std::string>> read_names(const KernelSource& source,
                                                                          clang::ASTContext& ast);

/// The kernels and kernel templates of the source as a message lists them; empty when there are none.
std::string list_kernels(clang::ASTContext& ast);

/// `what` is the name in quotes and what is wrong with it, `kernels` is of list_kernels.
[[noreturn]] void throw_wrong_name(const std::string& what, const std::string& kernels);

/// With its namespaces and template arguments.
std::string qualified_name(clang::ASTContext& ast, const clang::NamedDecl& declaration);

/// Prints what clang says of the source. What it says of a name is kept apart, as it shows how we ask.
class MessagePrinter : public clang::TextDiagnosticPrinter {
 public:
  using TextDiagnosticPrinter::TextDiagnosticPrinter;
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& diagnostic) override;

  /// What is wrong with the first name that is: "\"axpi<float>\": use of undeclared identifier 'axpi'".
  const std::string& wrong_name() const { return wrong_name_; }

 private:
  bool in_name_ = false;  // a note belongs to the error before it
  std::string wrong_name_;
};

}  // namespace gpulua::cpu
