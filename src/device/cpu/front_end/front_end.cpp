#include "src/device/cpu/front_end/front_end.h"

#include <clang/AST/ASTContext.h>
#include <clang/Basic/Version.h>
#include <clang/CodeGen/ModuleBuilder.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Frontend/MultiplexConsumer.h>
#include <clang/Lex/Pragma.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Serialization/ASTReader.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <exception>
#include <optional>

#include "src/base/error.h"
#include "src/device/cpu/front_end/clang_invocation.h"
#include "src/device/cpu/front_end/conversions.h"
#include "src/device/cpu/front_end/declarations.h"
#include "src/device/cpu/front_end/inline_assembly.h"
#include "src/device/cpu/front_end/kernel_headers.h"
#include "src/device/cpu/front_end/leading_includes.h"
#include "src/device/cpu/front_end/name_expressions.h"
#include "src/device/cpu/front_end/nesting.h"
#include "src/device/cpu/front_end/nvcc_text.h"
#include "src/device/cpu/front_end/prelude.h"
#include "src/device/cpu/front_end/prelude_reader.h"
#include "src/device/cpu/front_end/print_result.h"
#include "src/device/cpu/front_end/skip_host_code.h"
#include "src/device/cpu/ir/llvm_messages.h"
#include "src/device/shared/compile_hints.h"
#include "src/device/shared/compile_messages.h"
#include "src/device/shared/generated_text.h"
#include "src/device/shared/implicit_names.h"
#include "src/device/shared/standard_headers.h"

namespace gpulua::cpu {
namespace {

constexpr const char* main_file = "/gpulua/source.cu";
constexpr const char* user_headers = "/gpulua/headers";

std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result + '"';
}

/// The `#define` for a macro as options give it: "X", "X=1", "F(x)=x+1".
std::string define_line(const std::string& macro) {
  std::size_t equals = macro.find('=');
  std::string value = equals == std::string::npos ? "1" : macro.substr(equals + 1);
  return "#define " + macro.substr(0, equals) + " " + value + "\n";
}

/// The source as clang sees it: the names that come without an #include; the user's macros, which thus do not reach
/// into our own headers; the text under its own file name and line; and a use of each name expression, which
/// instantiates it.
std::string main_text(const NamedSource& named, const CompileOptions& options) {
  const KernelSource& source = named.source;
  std::string text = named.before + "#line 1 \"options\"\n";
  for (const auto& [macro, undefined] : options.macros)
    text += undefined ? "#undef " + macro + "\n" : define_line(macro);
  for (const auto& [macro, value] : source.defines) text += define_line(macro + "=" + value);
  for (const std::string& header : options.forced_includes) text += "#include " + in_quotes(header) + "\n";
  if (options.default_device) text += "#pragma clang force_cuda_host_device begin\n";
  text += "#line " + std::to_string(source.line) + " " + in_quotes(source.file.empty() ? "source" : source.file) + "\n";
  text += source.text + "\n";
  rewrite_for_clang(text);
  if (options.default_device) text += "#pragma clang force_cuda_host_device end\n";
  return text + name_uses(source);
}

/// Without the user's directories all includes are in memory, so the text alone decides what a source means.
bool reads_disk(const KernelSource& source, const CompileOptions& options) {
  return !source.include_dirs.empty() || !options.include_dirs.empty() || !options.forced_includes.empty();
}

ClangFiles make_files(const KernelSource& source, const CompileOptions& options, const std::string& text,
                      const PrecompiledPrelude* precompiled) {
  ClangFiles files(reads_disk(source, options));
  for (auto [name, content] : source.headers) {
    rewrite_for_clang(content);
    files.add_copy(std::string(user_headers) + "/" + name, content);
  }
  files.add(main_file, text);
  if (precompiled != nullptr) files.add(precompiled_prelude_file, precompiled->header);
  return files;
}

/// True for a kernel of the library's with functions of a script: they have their line, and may fail in it.
bool has_text_of_script(const std::string& text) {
  return text.find("#line") != std::string::npos || text.find("gpulua_lua_") != std::string::npos;
}

std::vector<std::string> front_end_arguments(const KernelSource& source, const CompileOptions& options,
                                             const CompileTarget& target, const PrecompiledPrelude* precompiled) {
  const bool has_lines = !source.own || target.checked || has_text_of_script(source.text);
  std::vector<std::string> arguments = clang_arguments(options, target, has_lines);
  auto add = [&](std::initializer_list<std::string> more) { arguments.insert(arguments.end(), more); };
  add({"-I", user_headers});
  for (const std::string& folder : source.include_dirs) add({"-I", folder});
  for (const std::string& folder : options.include_dirs) add({"-I", folder});
  add({"-I", prelude_folder});
  if (precompiled == nullptr) add({"-include", prelude_header});
  add({"-main-file-name", source.file.empty() ? "source" : source.file, main_file});
  return arguments;
}

/// `#pragma clang __debug` is for tests of clang: it ends the process, or prints to the terminal.
class RefuseDebugPragma : public clang::PragmaHandler {
 public:
  RefuseDebugPragma() : PragmaHandler("__debug") {}
  void HandlePragma(clang::Preprocessor& preprocessor, clang::PragmaIntroducer, clang::Token& name) override {
    clang::DiagnosticsEngine& diagnostics = preprocessor.getDiagnostics();
    preprocessor.Diag(name, diagnostics.getCustomDiagID(clang::DiagnosticsEngine::Error,
                                                        "'#pragma clang __debug' is not for kernels"));
  }
};

/// Parses, generates IR, and reads the declarations while the AST exists.
class ReadSource : public clang::ASTFrontendAction {
 public:
  ReadSource(const KernelSource& source, const PrecompiledPrelude* precompiled, SourceModule& result)
      : source_(source), precompiled_(precompiled), result_(result) {}

  void rethrow_failure() const {
    if (failure_) std::rethrow_exception(failure_);
  }
  /// The kernels of a source that does not compile.
  const std::string& kernels() const { return kernels_; }

 private:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler, llvm::StringRef) override {
    auto generator = std::unique_ptr<clang::CodeGenerator>(clang::CreateLLVMCodeGen(
        compiler.getDiagnostics(), "gpulua", &compiler.getVirtualFileSystem(), compiler.getHeaderSearchOpts(),
        compiler.getPreprocessorOpts(), compiler.getCodeGenOpts(), *result_.context));
    generator_ = generator.get();
    compiler.getPreprocessor().AddPragmaHandler("clang", new RefuseDebugPragma);  // in place of clang's own
    if (precompiled_ != nullptr && !read_prelude(compiler, *precompiled_)) return nullptr;
    std::vector<std::unique_ptr<clang::ASTConsumer>> consumers;
    consumers.push_back(nesting_.consumer());
    compiler.getFrontendOpts().SkipFunctionBodies = true;  // where a consumer says so
    consumers.push_back(skip_host_bodies());
    compiler.getPreprocessor().addPPCallbacks(skip_host_headers());
    consumers.push_back(assembly_functions(*generator_));
    consumers.push_back(std::move(generator));
    return std::make_unique<clang::MultiplexConsumer>(std::move(consumers));
  }

  void EndSourceFileAction() override {
    clang::CompilerInstance& compiler = getCompilerInstance();
    if (compiler.getDiagnostics().hasErrorOccurred() || generator_->GetModule() == nullptr) {
      // Declarations read from the prelude after this must not reach the generator, which has dropped its module.
      if (auto reader = compiler.getASTReader()) reader->StartTranslationUnit(nullptr);
      kernels_ = list_kernels(compiler.getASTContext());
      return;
    }
    try {
      if (nesting_.too_deep())
        throw Error(ErrorKind::compile,
                    "[compile] expected at most {} conditions and loops inside each other, got a function with more",
                    Nesting::most);
      read_declarations(source_, compiler.getASTContext(), *generator_, result_);
    } catch (...) {
      failure_ = std::current_exception();  // clang's frames cannot be unwound
    }
    result_.module.reset(generator_->ReleaseModule());
  }

  const KernelSource& source_;
  const PrecompiledPrelude* precompiled_;
  SourceModule& result_;
  Nesting nesting_;
  clang::CodeGenerator* generator_ = nullptr;
  std::exception_ptr failure_;
  std::string kernels_;
};

/// Defines the function that the tables of abstract classes refer to.
void define_pure_virtual(llvm::Module& module) {
  llvm::Function* function = module.getFunction("__cxa_pure_virtual");
  if (function == nullptr || !function->isDeclaration()) return;
  function->setLinkage(llvm::GlobalValue::InternalLinkage);
  function->setDSOLocal(true);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(module.getContext(), "", function));
  builder.CreateIntrinsic(llvm::Intrinsic::trap, {}, {});
  builder.CreateUnreachable();
}

/// Removes clang's list of device variables that host functions use and other files define (-fgpu-rdc).
void drop_host_uses(llvm::Module& module) {
  llvm::GlobalVariable* list = module.getGlobalVariable("__clang_gpu_used_external", /*AllowInternal=*/true);
  if (list == nullptr) return;
  llvm::removeFromUsedLists(module, [list](llvm::Constant* used) { return used == list; });
  list->eraseFromParent();
}

std::string header_list(const KernelSource& source) {
  std::string result;
  for (const auto& [name, text] : source.headers) result += (result.empty() ? "" : ", ") + name;
  // Details are there for sources that name them, and not to be recommended.
  for (const PreludeHeader& header : prelude_headers())
    if (!header.name.starts_with("gpulua") && header.name.find("/details/") == header.name.npos)
      result += (result.empty() ? "" : ", ") + std::string(header.name);
  return result;
}

[[noreturn]] void refuse(const KernelSource& source, std::string messages) {
  messages = without_generated_notes(messages);
  std::string text = "[compile] the kernel source does not compile:\n" + first_errors(messages);
  if (messages.find("file not found") != std::string::npos)
    text += "\nheaders there are: " + header_list(source) + "; others by the headers and include options";
  if (const std::string hints = compile_hints(messages); !hints.empty()) text += "\n" + hints;
  throw CompileError(text, std::move(messages));
}

using Context = std::shared_ptr<llvm::LLVMContext>;

SourceModule parse(const NamedSource& named, const CompileOptions& options, const CompileTarget& target,
                   const PrecompiledPrelude* precompiled, const Context& context) {
  const KernelSource& source = named.source;
  const std::string text = main_text(named, options);
  SourceModule result;
  result.context = context;
  ReadSource action(source, precompiled, result);
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  auto diagnostic_options = llvm::makeIntrusiveRefCnt<clang::DiagnosticOptions>();
  diagnostic_options->ShowPresumedLoc = true;  // follow `#line`
  // As on the CUDA device: a caret shows the column.
  diagnostic_options->ShowColumn = false;
  diagnostic_options->ShowLineNumbers = false;
  MessagePrinter printer(stream, diagnostic_options.get());
  bool done = run_clang(action, front_end_arguments(source, options, target, precompiled),
                        make_files(source, options, text, precompiled), printer);
  action.rethrow_failure();
  if (!done || !result.module) {
    if (messages.empty() && !printer.wrong_name().empty()) throw_wrong_name(printer.wrong_name(), action.kernels());
    refuse(source, messages);
  }
  for (SourceKernel& kernel : result.kernels) kernel.choice = options.engine;
  define_pure_virtual(*result.module);
  drop_host_uses(*result.module);
  count_printed_arguments(*result.module);
  replace_inline_assembly(result);
  convert_nans(*result.module);
  return result;
}

Context new_context() {
  auto context = std::make_shared<llvm::LLVMContext>();
  collect_errors(*context);
  return context;
}

}  // namespace

SourceModule parse_source(const KernelSource& source, const CompileOptions& options, const CompileTarget& target,
                          const PrecompiledPrelude* precompiled) {
  return parse(with_all_names(source), options, target, precompiled, new_context());
}

SourceModule parse_source(const KernelSource& source, const CompileOptions& options, const CompileTarget& target) {
  return parse_part(source, options, target, new_context());
}

SourceModule parse_part(const KernelSource& source, const CompileOptions& options, const CompileTarget& target,
                        const std::shared_ptr<llvm::LLVMContext>& context) {
  // A failure is compiled again for the message: from parsed headers clang suggests better names for a misspelt one.
  const std::string version = clang::getClangFullVersion();
  bool failed = false;
  const auto try_prelude = [&](const KernelSource& text, const PrecompiledPrelude* precompiled) {
    std::optional<SourceModule> result;
    if (precompiled != nullptr && !failed) try {
        result = parse(with_all_names(text), options, target, precompiled, context);
      } catch (const Error&) {
        failed = true;
      }
    return result;
  };
  if (source.own && !target.checked)  // the checker's reports name no line of our headers
    if (const KernelSource rest = without_kernel_headers(source); rest.text.size() < source.text.size())
      if (auto result = try_prelude(rest, precompiled_kernels(version))) return std::move(*result);
  const PrecompiledPrelude* precompiled =
      precompiled_prelude(options.standard, leading_includes(source, options), version);
  if (auto result = try_prelude(source, precompiled)) return std::move(*result);
  return first_that_compiles<SourceModule>(
      source, [&](const NamedSource& way) { return parse(way, options, target, nullptr, context); });
}

}  // namespace gpulua::cpu
