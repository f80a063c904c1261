// precompile <standard> <file> <header>...: run by the build. Writes <file>.pch, the prelude and the headers as clang's
// precompiled header for the least x86-64 processor, and <file>.macros, the version of clang and the macros that it
// started from.

#include <clang/Basic/Version.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendActions.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <llvm/Support/raw_ostream.h>

#include <fstream>

#include "src/device/cpu/clang_invocation.h"
#include "src/device/cpu/precompiled_prelude.h"

namespace gpulua::cpu {
namespace {

class Precompile : public clang::GeneratePCHAction {
 public:
  std::string macros;

 private:
  bool BeginSourceFileAction(clang::CompilerInstance& compiler) override {
    macros = compiler.getPreprocessor().getPredefines();
    return GeneratePCHAction::BeginSourceFileAction(compiler);
  }
};

int precompile(const std::string& standard, const std::string& file, const std::vector<std::string>& headers) {
  CompileOptions options;
  options.standard = standard;
  std::vector<std::string> arguments = clang_arguments(options, {"x86-64", {}});
  const std::string main_file = "/gpulua/prelude.cu";
  arguments.insert(arguments.end(), {"-fpch-instantiate-templates", "-I", prelude_folder, "-include", prelude_header,
                                     "-o", file + ".pch", main_file});
  ClangFiles files;
  std::string text;
  for (const std::string& header : headers) text += "#include <" + header + ">\n";
  files.add(main_file, text);
  Precompile action;
  clang::TextDiagnosticPrinter messages(llvm::errs(), new clang::DiagnosticOptions);
  if (!run_clang(action, arguments, files, messages)) return 1;
  std::ofstream macros(file + ".macros");
  macros << version_line(clang::getClangFullVersion()) << action.macros;
  return macros.flush() ? 0 : 1;
}

}  // namespace
}  // namespace gpulua::cpu

int main(int count, char** arguments) {
  if (count < 3) return 2;
  return gpulua::cpu::precompile(arguments[1], arguments[2], {arguments + 3, arguments + count});
}
