#pragma once

// clang as a library, for compiling kernels and for precompiling the prelude.

#include <clang/Frontend/FrontendAction.h>
#include <llvm/Support/VirtualFileSystem.h>

#include <string>
#include <string_view>
#include <vector>

#include "src/device/cpu/abi/compiler_plugin.h"
#include "src/device/cpu/front_end/compile_options.h"

namespace gpulua::cpu {

inline constexpr const char* prelude_folder = "/gpulua/include";
inline constexpr const char* prelude_header = "gpulua_cpu.h";  // included before every source

/// clang's arguments for the language and the target. The caller adds the prelude's folder and the file. Without
/// `has_lines` the code has no lines, and nothing can unwind through it.
std::vector<std::string> clang_arguments(const CompileOptions& options, const CompileTarget& target,
                                         bool has_lines = true);

/// The files that clang sees: files in memory, the prelude's headers among them, and with `reads_disk` the machine's
/// regular files.
class ClangFiles {
 public:
  explicit ClangFiles(bool reads_disk = false);
  /// `content` outlives this object. A zero follows its last character.
  void add(const std::string& path, std::string_view content);
  void add_copy(const std::string& path, std::string_view content);
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> overlay() const;

 private:
  llvm::IntrusiveRefCntPtr<llvm::vfs::InMemoryFileSystem> memory_;
  bool reads_disk_;
};

/// Runs the action. Returns false after errors; `messages` has them.
bool run_clang(clang::FrontendAction& action, const std::vector<std::string>& arguments, const ClangFiles& files,
               clang::DiagnosticConsumer& messages);

}  // namespace gpulua::cpu
