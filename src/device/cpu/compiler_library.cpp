#include "src/device/cpu/compiler_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>

#include "src/base/error.h"
#include "src/device/cache.h"
#include "src/device/cpu/abi/abi.h"
#include "src/device/dynamic_library.h"

namespace gpulua::cpu {
namespace {

// Bumped when the meaning of a cached module changes in a way that neither the compiler's file nor abi_version shows.
constexpr std::uint64_t cache_format = 1;

/// The folder of the shared object that this function is in.
std::filesystem::path own_folder() {
  Dl_info info{};
  static const int anchor = 0;
  if (dladdr(&anchor, &info) == 0 || info.dli_fname == nullptr) return {};
  return std::filesystem::path(info.dli_fname).parent_path();
}

/// clang's library where Linux distributions put it; the compiler is linked to whichever the loader finds.
std::filesystem::path find_clang() {
  constexpr std::array folders{"/usr/lib/x86_64-linux-gnu", "/usr/lib/llvm-19/lib", "/usr/lib64/llvm19/lib64",
                               "/usr/lib64", "/usr/local/lib"};
  for (const char* folder : folders) {
    std::filesystem::path file = std::filesystem::path(folder) / "libclang-cpp.so.19.1";
    std::error_code error;
    if (std::filesystem::exists(file, error)) return file;
  }
  return {};
}

}  // namespace

CompilerLibrary::CompilerLibrary(const Config& config)
    : path_(own_folder() / "libgpulua-cpu-compiler.so"), threads_(config.fault_handlers) {}

CompiledModule CompilerLibrary::compile(const KernelSource& source, const CompileTarget& target,
                                        std::atomic<bool>& interrupted) {
  return threads_.run(entry(), source, target, interrupted);
}

std::string CompilerLibrary::cache_digest(const KernelSource& source, const CompileTarget& target,
                                          const Processor& processor) const {
  return CacheKey()
      .add("cpu")
      .add(cache_format)
      .add(std::uint64_t{abi_version})
      .add(processor.model)
      .add(processor.features)
      .add(file_identity(path_))  // the headers that we ship are compiled into it
      .add(file_identity(find_clang()))
      .add(std::uint64_t{target.checked})
      .add(source)
      .digest();
}

const CompilerEntry& CompilerLibrary::entry() {
  std::lock_guard lock(mutex_);
  if (entry_ != nullptr) return *entry_;
  std::string why;
  DynamicLibrary library = DynamicLibrary::open(path_.string(), why);
  if (!library)
    throw Error(ErrorKind::unavailable,
                "[compile] the cpu device compiles kernels with clang 19, which cannot be loaded (" + why +
                    "); install it with: apt-get install libclang-cpp19 libllvm19");
  const auto* found = static_cast<const CompilerEntry*>(library.symbol("gpulua_cpu_compiler"));
  if (found == nullptr || found->version != compiler_version)
    throw Error(ErrorKind::unavailable,
                "[compile] " + path_.string() + " is of another version of gpulua; reinstall gpulua");
  entry_ = found;
  return *entry_;
}

bool includes_files(const KernelSource& source) {
  return !source.include_dirs.empty() ||
         std::any_of(source.options.begin(), source.options.end(), [](const std::string& option) {
           return option.starts_with("-I") || option.starts_with("--include-path") ||
                  option.starts_with("--pre-include");
         });
}

}  // namespace gpulua::cpu
