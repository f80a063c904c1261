// Run by the build, for the least processor of its architecture.
//
// precompile <standard> <file> <header>...: writes <file>.pch, the prelude, the names that come without an
// #include, and the headers as clang's precompiled header, and <file>.macros, the version of clang and the macros that
// it started from. The header `--kernels` stands for all kernel headers.
//
// precompile <file>: writes the loops over blocks, warps and threads (run_templates.h) as LLVM's bitcode.

#include <clang/Basic/Version.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendActions.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/Support/raw_ostream.h>

#include <fstream>

#include "src/device/cpu/front_end/clang_invocation.h"
#include "src/device/cpu/front_end/kernel_headers.h"
#include "src/device/cpu/front_end/precompiled_prelude.h"
#include "src/device/cpu/ir/analyses.h"
#include "src/device/shared/standard_headers.h"

namespace gpulua::cpu {
namespace {

#ifdef __x86_64__
constexpr const char* least_processor = "x86-64";
#else
constexpr const char* least_processor = "generic";
#endif

class Precompile : public clang::GeneratePCHAction {
 public:
  std::string macros;

 private:
  bool BeginSourceFileAction(clang::CompilerInstance& compiler) override {
    macros = compiler.getPreprocessor().getPredefines();
    return GeneratePCHAction::BeginSourceFileAction(compiler);
  }
};

bool is_template(llvm::StringRef name) {
  return name.starts_with("gpulua_run_") || name == "gpulua_fail_in_lane" || name == "gpulua_flush_histogram";
}

std::vector<std::string> arguments_for(const CompileOptions& options, std::initializer_list<std::string> more) {
  std::vector<std::string> arguments = clang_arguments(options, {least_processor, {}});
  arguments.insert(arguments.end(), {"-I", prelude_folder, "-include", prelude_header});
  arguments.insert(arguments.end(), more);
  return arguments;
}

void simplify(llvm::Module& module) {
  llvm::StripDebugInfo(module);
  for (llvm::Function& function : module)
    if (!function.isDeclaration() && !is_template(function.getName()))
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
  llvm::PassBuilder builder;
  Analyses analyses(builder);
  llvm::ModulePassManager passes;
  llvm::cantFail(builder.parsePassPipeline(passes, "always-inline,function(sroa),globaldce"));
  passes.run(module, analyses.modules);
}

int precompile_templates(const std::string& file) {
  const std::string main_file = "/gpulua/templates.cu";
  ClangFiles files;
  files.add(main_file, "#include <gpulua_run.h>\n#include <gpulua_warps.h>\n");
  llvm::LLVMContext context;
  clang::EmitLLVMOnlyAction action(&context);
  clang::TextDiagnosticPrinter messages(llvm::errs(), new clang::DiagnosticOptions);
  if (!run_clang(action, arguments_for({}, {main_file}), files, messages)) return 1;
  std::unique_ptr<llvm::Module> module = action.takeModule();
  simplify(*module);
  std::error_code error;
  llvm::raw_fd_ostream stream(file, error);
  if (!error) llvm::WriteBitcodeToFile(*module, stream);
  return error || stream.has_error() ? 1 : 0;
}

int precompile(const std::string& standard, const std::string& file, const std::vector<std::string>& headers) {
  CompileOptions options;
  options.standard = standard;
  const std::string main_file = "/gpulua/prelude.cu";
  ClangFiles files;
  files.add(main_file, "");
  Precompile action;
  clang::TextDiagnosticPrinter messages(llvm::errs(), new clang::DiagnosticOptions);
  std::vector<std::string> arguments = arguments_for(options, {"-fpch-instantiate-templates", "-o", file + ".pch"});
  // As options, not as the main file's text: that file does not exist when clang reads the result.
  for (const char* header : implicit_headers) arguments.insert(arguments.end(), {"-include", header});
  for (const std::string& header : headers) {
    if (header != "--kernels")
      arguments.insert(arguments.end(), {"-include", header});
    else
      for (const std::string& path : kernel_headers()) arguments.insert(arguments.end(), {"-include", path});
  }
  arguments.push_back(main_file);
  if (!run_clang(action, arguments, files, messages)) return 1;
  std::ofstream macros(file + ".macros");
  macros << version_line(clang::getClangFullVersion()) << action.macros;
  return macros.flush() ? 0 : 1;
}

}  // namespace
}  // namespace gpulua::cpu

int main(int count, char** arguments) {
  if (count < 2) return 2;
  if (count == 2) return gpulua::cpu::precompile_templates(arguments[1]);
  return gpulua::cpu::precompile(arguments[1], arguments[2], {arguments + 3, arguments + count});
}
