#pragma once

// Name expressions: the names by which a program asks for instances of kernel templates, "axpy<float>".

#include <clang/AST/ASTContext.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>

#include <map>

#include "src/device/kernel.h"

namespace gpulua::cpu {

/// Text to append to the source: a use of each name, which instantiates it.
std::string name_uses(const KernelSource& source);

/// The name expressions of each kernel. Throws ErrorKind::compile for one that names no kernel.
std::map<const clang::FunctionDecl*, std::vector<std::string>> read_names(const KernelSource& source,
                                                                          clang::ASTContext& ast);

/// The kernels and kernel templates of the source, as a list for messages; empty if there are none.
std::string list_kernels(clang::ASTContext& ast);

/// `what`: the name in quotes and what is wrong with it. `kernels`: from list_kernels().
[[noreturn]] void throw_wrong_name(const std::string& what, const std::string& kernels);

/// With its namespaces and template arguments.
std::string qualified_name(clang::ASTContext& ast, const clang::NamedDecl& declaration);

/// Prints clang's messages about the source. Messages about name expressions are kept apart: they would show the text
/// that name_uses() appends.
class MessagePrinter : public clang::TextDiagnosticPrinter {
 public:
  using TextDiagnosticPrinter::TextDiagnosticPrinter;
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& diagnostic) override;

  /// The first error in a name expression: "\"axpi<float>\": use of undeclared identifier 'axpi'".
  const std::string& wrong_name() const { return wrong_name_; }

 private:
  bool in_name_ = false;  // a note belongs to the error before it
  std::string wrong_name_;
};

}  // namespace gpulua::cpu
