#include "src/device/cpu/front_end.h"

#include <clang/AST/ASTContext.h>
#include <clang/Basic/Diagnostic.h>
#include <clang/CodeGen/ModuleBuilder.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Host.h>

#include <exception>
#include <optional>

#include "src/core/error.h"
#include "src/device/cpu/conversions.h"
#include "src/device/cpu/declarations.h"
#include "src/device/cpu/inline_assembly.h"
#include "src/device/cpu/name_expressions.h"
#include "src/device/cpu/prelude.h"

namespace gpulua::cpu {
namespace {

constexpr const char* main_file = "/gpulua/source.cu";
constexpr const char* user_headers = "/gpulua/headers";
constexpr const char* system_headers = "/gpulua/include";
constexpr const char* implicit_header = "gpulua_cpu.h";
constexpr const char* rare_header = "gpulua_rare.h";

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result + '"';
}

/// The line for a macro as a compiler's option gives it: "X", "X=1", "F(x)=x+1".
std::string define_line(const std::string& macro) {
  std::size_t equals = macro.find('=');
  std::string value = equals == std::string::npos ? "1" : macro.substr(equals + 1);
  return "#define " + macro.substr(0, equals) + " " + value + "\n";
}

/// The source as clang sees it: the user's macros, which thus do not reach into our own headers; the text under its own
/// file name and line; and a use of each name expression, which instantiates it.
std::string main_text(const KernelSource& source, const CompileOptions& options) {
  std::string text = "#line 1 \"options\"\n";
  for (const auto& [macro, undefined] : options.macros)
    text += undefined ? "#undef " + macro + "\n" : define_line(macro);
  for (const auto& [macro, value] : source.defines) text += define_line(macro + "=" + value);
  for (const std::string& header : options.forced_includes) text += "#include " + quoted(header) + "\n";
  if (options.default_device) text += "#pragma clang force_cuda_host_device begin\n";
  text += "#line " + std::to_string(source.line) + " " + quoted(source.file.empty() ? "source" : source.file) + "\n";
  text += source.text + "\n";
  if (options.default_device) text += "#pragma clang force_cuda_host_device end\n";
  return text + name_uses(source);
}

/// The compiler's own headers and the source in memory, before the real file system.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> make_files(const KernelSource& source, const std::string& text) {
  auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  auto add = [&](const std::string& path, std::string_view content) {
    memory->addFile(path, 0, llvm::MemoryBuffer::getMemBuffer({content.data(), content.size()}, path, false));
  };
  for (const PreludeHeader& header : prelude_headers())
    add(std::string(system_headers) + "/" + std::string(header.name), header.text);
  for (const auto& [name, content] : source.headers) add(std::string(user_headers) + "/" + name, content);
  add(main_file, text);
  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(llvm::vfs::getRealFileSystem());
  files->pushOverlay(memory);
  return files;
}

void add_target(std::vector<std::string>& arguments, const CompileTarget& target) {
  auto add = [&](std::initializer_list<std::string> more) { arguments.insert(arguments.end(), more); };
  add({"-triple", llvm::sys::getProcessTriple()});
  if (!target.processor.empty()) {
    add({"-target-cpu", target.processor});
    for (const std::string& feature : target.features) add({"-target-feature", feature});
    return;
  }
  add({"-target-cpu", llvm::sys::getHostCPUName().str()});
  for (const auto& feature : llvm::sys::getHostCPUFeatures())
    add({"-target-feature", std::string(feature.second ? "+" : "-") += feature.first()});
}

std::vector<std::string> front_end_arguments(const KernelSource& source, const CompileOptions& options,
                                             const CompileTarget& target, bool with_rare) {
  std::vector<std::string> arguments{
      "-emit-llvm-only", "-x", "cuda", "-fcuda-is-device", "-fcuda-allow-variadic-functions",
      "-std=" + options.standard, "-O2", "-disable-llvm-passes", "-mrelocation-model", "pic", "-pic-level", "2",
      "-fgnuc-version=4.2.1",
      // What a GPU does, or what nvcc lets people get away with.
      "-fno-strict-float-cast-overflow", "-relaxed-aliasing", "-fno-threadsafe-statics",
      // A failing assertion unwinds through the kernel; a message names the source line.
      "-funwind-tables=2", "-debug-info-kind=line-tables-only", "-dwarf-version=5",
      // Keeps file names as `#line` has them: names below the folder here lose its part.
      "-fdebug-compilation-dir=/",
      // Large frames touch each of their pages: none leaps over the one below a stack.
      "-fstack-clash-protection", "-mprefer-vector-width=512", "-nostdsysteminc", "-nobuiltininc"};
  auto add = [&](std::initializer_list<std::string> more) { arguments.insert(arguments.end(), more); };
  add_target(arguments, target);
  add({options.contract ? "-ffp-contract=fast-honor-pragmas" : "-ffp-contract=off"});
  if (options.fast_math) add({"-fapprox-func", "-freciprocal-math"});
  add({"-I", user_headers});
  for (const std::string& folder : source.include_dirs) add({"-I", folder});
  for (const std::string& folder : options.include_dirs) add({"-I", folder});
  add({"-I", system_headers, "-include", implicit_header});
  if (with_rare) add({"-include", rare_header});
  add({"-main-file-name", source.file.empty() ? "source" : source.file, main_file});
  return arguments;
}

/// Parses, generates IR, and reads the declarations while the AST is there.
class ReadSource : public clang::ASTFrontendAction {
 public:
  ReadSource(const KernelSource& source, SourceModule& result) : source_(source), result_(result) {}

  void rethrow_failure() const {
    if (failure_) std::rethrow_exception(failure_);
  }
  /// Of a source that does not compile.
  const std::string& kernels() const { return kernels_; }

 private:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler, llvm::StringRef) override {
    auto generator = std::unique_ptr<clang::CodeGenerator>(clang::CreateLLVMCodeGen(
        compiler.getDiagnostics(), "gpulua", &compiler.getVirtualFileSystem(), compiler.getHeaderSearchOpts(),
        compiler.getPreprocessorOpts(), compiler.getCodeGenOpts(), *result_.context));
    generator_ = generator.get();
    return generator;
  }

  void EndSourceFileAction() override {
    clang::CompilerInstance& compiler = getCompilerInstance();
    if (compiler.getDiagnostics().hasErrorOccurred() || generator_->GetModule() == nullptr) {
      kernels_ = list_kernels(compiler.getASTContext());
      return;
    }
    try {
      read_declarations(source_, compiler.getASTContext(), *generator_, result_);
    } catch (...) {
      failure_ = std::current_exception();  // clang's frames cannot be unwound
    }
    result_.module.reset(generator_->ReleaseModule());
  }

  const KernelSource& source_;
  SourceModule& result_;
  clang::CodeGenerator* generator_ = nullptr;
  std::exception_ptr failure_;
  std::string kernels_;
};

/// Why a source does not compile.
struct Complaint {
  std::string messages;    // clang's
  std::string wrong_name;  // MessagePrinter::wrong_name
  std::string kernels;     // that there are
};

std::string header_list(const KernelSource& source) {
  std::string result;
  for (const auto& [name, text] : source.headers) result += (result.empty() ? "" : ", ") + name;
  for (const PreludeHeader& header : prelude_headers())
    if (!header.name.starts_with("gpulua_")) result += (result.empty() ? "" : ", ") + std::string(header.name);
  return result;
}

[[noreturn]] void refuse(const KernelSource& source, const Complaint& complaint) {
  std::string messages = complaint.messages;
  if (messages.empty() && !complaint.wrong_name.empty()) throw_wrong_name(complaint.wrong_name, complaint.kernels);
  while (!messages.empty() && messages.back() == '\n') messages.pop_back();
  std::string text = "[compile] the kernel source does not compile:\n" + messages;
  if (messages.find("file not found") != std::string::npos)
    text += "\nheaders there are: " + header_list(source) + "; others by the headers and include options";
  if (messages.find("constraint") != std::string::npos && messages.find(" in asm") != std::string::npos)
    text += "\nthe CPU device has no inline PTX assembly; an intrinsic function may do the same";
  throw Error(ErrorKind::compile, text);
}

/// Nothing where the source does not compile; `complaint` then tells why.
std::optional<SourceModule> try_parse(const KernelSource& source, const CompileOptions& options,
                                      const std::vector<std::string>& arguments, Complaint& complaint) {
  llvm::raw_string_ostream stream(complaint.messages);
  auto diagnostic_options = llvm::makeIntrusiveRefCnt<clang::DiagnosticOptions>();
  diagnostic_options->ShowPresumedLoc = true;  // follow `#line`
  auto* printer = new MessagePrinter(stream, diagnostic_options.get());
  auto diagnostics = llvm::makeIntrusiveRefCnt<clang::DiagnosticsEngine>(
      llvm::makeIntrusiveRefCnt<clang::DiagnosticIDs>(), diagnostic_options, printer);
  diagnostics->setIgnoreAllWarnings(true);

  std::vector<const char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, pointers, *diagnostics)) return {};

  std::string text = main_text(source, options);
  clang::CompilerInstance compiler;
  compiler.setInvocation(std::move(invocation));
  compiler.setDiagnostics(diagnostics.get());
  compiler.setVerboseOutputStream(llvm::nulls());
  compiler.createFileManager(make_files(source, text));

  SourceModule result;
  result.context = std::make_unique<llvm::LLVMContext>();
  ReadSource action(source, result);
  bool done = compiler.ExecuteAction(action);
  action.rethrow_failure();
  complaint.wrong_name = printer->wrong_name();
  complaint.kernels = action.kernels();
  if (!done || !result.module) return {};
  replace_inline_assembly(*result.module);
  convert_nans(*result.module);
  return result;
}

}  // namespace

SourceModule parse_source(const KernelSource& source, const CompileOptions& options, const CompileTarget& target) {
  // Parsing the rare functions takes as long as a small kernel does, so they come in where something is missing.
  Complaint complaint;
  for (bool with_rare : {false, true}) {
    complaint = {};
    if (auto result = try_parse(source, options, front_end_arguments(source, options, target, with_rare), complaint))
      return std::move(*result);
  }
  refuse(source, complaint);
}

}  // namespace gpulua::cpu
