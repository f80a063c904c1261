#pragma once

// clang as a library: what each of its runs here has in common, whether it compiles a kernel or precompiles the
// prelude.

#include <clang/Frontend/FrontendAction.h>
#include <llvm/Support/VirtualFileSystem.h>

#include <string>
#include <string_view>
#include <vector>

#include "src/device/cpu/abi/compiler_plugin.h"
#include "src/device/cpu/front_end/compile_options.h"

namespace gpulua::cpu {

inline constexpr const char* prelude_folder = "/gpulua/include";
inline constexpr const char* prelude_header = "gpulua_cpu.h";  // ahead of every source

/// The arguments for the language and the machine, which have to name the prelude's folder and the file still.
std::vector<std::string> clang_arguments(const CompileOptions& options, const CompileTarget& target);

/// Files in memory, over the machine's regular files where it `reads_disk`. They start with the prelude's headers.
class ClangFiles {
 public:
  explicit ClangFiles(bool reads_disk = false);
  /// `content` outlives this object and ends with a zero behind its last character.
  void add(const std::string& path, std::string_view content);
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> overlay() const;

 private:
  llvm::IntrusiveRefCntPtr<llvm::vfs::InMemoryFileSystem> memory_;
  bool reads_disk_;
};

/// Runs the action; false where there were errors, which went to `messages`.
bool run_clang(clang::FrontendAction& action, const std::vector<std::string>& arguments, const ClangFiles& files,
               clang::DiagnosticConsumer& messages);

}  // namespace gpulua::cpu
