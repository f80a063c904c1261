#include "src/device/cpu/front_end/clang_invocation.h"

#include <clang/Basic/Diagnostic.h>
#include <clang/Frontend/CompilerInstance.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Host.h>

#include "src/device/cpu/front_end/kernel_headers.h"
#include "src/device/cpu/front_end/nvcc_text.h"
#include "src/device/cpu/front_end/prelude.h"

namespace gpulua::cpu {
namespace {

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

/// The machine's files, relative to the working directory. If that was removed, relative to the root: LLVM would end
/// the process.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> machine_files() {
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files = llvm::vfs::getRealFileSystem();
  if (files->getCurrentWorkingDirectory()) return files;
  files = llvm::vfs::createPhysicalFileSystem();  // has a working directory of its own
  files->setCurrentWorkingDirectory("/");
  return files;
}

/// A file with its inline assembly as clang reads it here.
class SourceFile : public llvm::vfs::File {
 public:
  SourceFile(const llvm::vfs::Status& status, std::string text)
      : text_(std::move(text)), status_(llvm::vfs::Status::copyWithNewSize(status, text_.size())) {}

  llvm::ErrorOr<llvm::vfs::Status> status() override { return status_; }
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> getBuffer(const llvm::Twine& name, std::int64_t, bool,
                                                               bool) override {
    return llvm::MemoryBuffer::getMemBufferCopy(text_, name);
  }
  std::error_code close() override { return {}; }

 private:
  std::string text_;
  llvm::vfs::Status status_;
};

/// The machine's files without devices and pipes, which may be endless.
class RegularFiles : public llvm::vfs::ProxyFileSystem {
 public:
  RegularFiles() : ProxyFileSystem(machine_files()) {}

  llvm::ErrorOr<llvm::vfs::Status> status(const llvm::Twine& path) override {
    auto found = ProxyFileSystem::status(path);
    if (found && !found->isRegularFile() && !found->isDirectory())
      return std::make_error_code(std::errc::no_such_file_or_directory);
    return found;
  }
  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> openFileForRead(const llvm::Twine& path) override {
    const auto found = status(path);
    if (!found) return found.getError();
    auto file = ProxyFileSystem::openFileForRead(path);
    if (!file) return file;
    const auto buffer = (*file)->getBuffer(path);
    if (!buffer) return buffer.getError();
    std::string text = (*buffer)->getBuffer().str();
    rewrite_for_clang(text);
    return std::make_unique<SourceFile>(*found, std::move(text));
  }
};

}  // namespace

std::vector<std::string> clang_arguments(const CompileOptions& options, const CompileTarget& target, bool has_lines) {
  std::vector<std::string> arguments{
      "-emit-llvm-only", "-x", "cuda", "-fcuda-is-device", "-fcuda-allow-variadic-functions",
      "-std=" + options.standard, "-O2", "-disable-llvm-passes", "-mrelocation-model", "pic", "-pic-level", "2",
      "-fgnuc-version=4.2.1",
      // A GPU's semantics, and what nvcc accepts.
      "-fno-strict-float-cast-overflow", "-relaxed-aliasing", "-fno-threadsafe-statics",
      // So clang takes `extern __shared__` with a size.
      "-fgpu-rdc",
      // Part of the symbols of static kernels. Without one, clang asks the system for the file that the source names.
      "-cuid=gpulua",
      // C++ lets a compiler take it that loops and recursion without visible effects end. CUDA programs need not know.
      "-fno-finite-loops",
      // A store through null faults; LLVM would remove it and what follows.
      "-fno-delete-null-pointer-checks",
      // Keeps file names as `#line` gives them: clang shortens names below this folder.
      "-fdebug-compilation-dir=/",
      // Large frames touch all their pages, so none skips a stack's guard page.
      "-fstack-clash-protection", "-mprefer-vector-width=512", "-nostdsysteminc", "-nobuiltininc",
      // No warnings, and no errors where nvcc only warns.
      "-w", "-Wno-c++11-narrowing", "-Wno-register", "-Wno-reserved-user-defined-literal",
      "-Wno-enum-constexpr-conversion", "-Wno-missing-template-arg-list-after-template-kw"};
  // A failing assertion unwinds through the kernel; a message names the source line.
  if (has_lines)
    arguments.insert(arguments.end(), {"-funwind-tables=2", "-debug-info-kind=line-tables-only", "-dwarf-version=5"});
  add_target(arguments, target);
  arguments.push_back(options.contract ? "-ffp-contract=fast-honor-pragmas" : "-ffp-contract=off");
  if (options.fast_math) arguments.insert(arguments.end(), {"-fapprox-func", "-freciprocal-math"});
  return arguments;
}

ClangFiles::ClangFiles(bool reads_disk)
    : memory_(llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>()), reads_disk_(reads_disk) {
  for (const PreludeHeader& header : prelude_headers())
    add(std::string(prelude_folder) + "/" + std::string(header.name), header.text);
  for (const std::string& path : kernel_headers()) add(path, kernel_header_of(path));
}

void ClangFiles::add(const std::string& path, std::string_view content) {
  memory_->addFile(path, 0, llvm::MemoryBuffer::getMemBuffer({content.data(), content.size()}, path));
}

void ClangFiles::add_copy(const std::string& path, std::string_view content) {
  memory_->addFile(path, 0, llvm::MemoryBuffer::getMemBufferCopy({content.data(), content.size()}, path));
}

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> ClangFiles::overlay() const {
  if (!reads_disk_) return memory_;
  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(llvm::makeIntrusiveRefCnt<RegularFiles>());
  files->pushOverlay(memory_);
  return files;
}

bool run_clang(clang::FrontendAction& action, const std::vector<std::string>& arguments, const ClangFiles& files,
               clang::DiagnosticConsumer& messages) {
  auto diagnostics = llvm::makeIntrusiveRefCnt<clang::DiagnosticsEngine>(
      llvm::makeIntrusiveRefCnt<clang::DiagnosticIDs>(), llvm::makeIntrusiveRefCnt<clang::DiagnosticOptions>(),
      &messages,
      /*ShouldOwnClient=*/false);

  std::vector<const char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, pointers, *diagnostics)) return false;
  clang::ProcessWarningOptions(*diagnostics, invocation->getDiagnosticOpts(), /*ReportDiags=*/false);

  clang::CompilerInstance compiler;
  compiler.setInvocation(std::move(invocation));
  compiler.setDiagnostics(diagnostics.get());
  compiler.setVerboseOutputStream(llvm::nulls());
  compiler.createFileManager(files.overlay());
  return compiler.ExecuteAction(action);
}

}  // namespace gpulua::cpu
