#include "src/device/cpu/compiler_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "src/base/dynamic_library.h"
#include "src/base/error.h"
#include "src/device/cpu/abi/abi.h"
#include "src/device/shared/cache.h"

namespace gpulua::cpu {
namespace {

// Bumped when the meaning of a cached module changes in a way that neither the compiler's file nor abi_version shows.
constexpr std::uint64_t cache_format = 2;

/// The folder of the shared object that this function is in.
std::filesystem::path own_folder() {
  Dl_info info{};
  static const int anchor = 0;
  if (dladdr(&anchor, &info) == 0 || info.dli_fname == nullptr) return {};
  return std::filesystem::path(info.dli_fname).parent_path();
}

#ifdef GPULUA_CLANG_LIBRARY  // else our shared object contains clang

constexpr const char* how_to_install =
    "[compile] the cpu device compiles kernels with clang 19, which cannot be loaded ({}); install it "
    "with: apt-get install libclang-cpp19 libllvm19";

/// The folders in which the loader looks for libraries, in its order: LD_LIBRARY_PATH's, then the system's.
std::vector<std::filesystem::path> loader_folders() {
  std::vector<std::filesystem::path> folders;
  void* process = dlopen(nullptr, RTLD_LAZY);
  Dl_serinfo size;
  if (process == nullptr) return folders;
  if (dlinfo(process, RTLD_DI_SERINFOSIZE, &size) == 0) {
    std::vector<std::max_align_t> memory(size.dls_size / sizeof(std::max_align_t) + 1);
    auto* info = reinterpret_cast<Dl_serinfo*>(memory.data());
    if (dlinfo(process, RTLD_DI_SERINFOSIZE, info) == 0 && dlinfo(process, RTLD_DI_SERINFO, info) == 0) {
      const Dl_serpath* paths = info->dls_serpath;
      for (unsigned i = 0; i < info->dls_cnt; ++i) folders.emplace_back(paths[i].dls_name);
    }
  }
  dlclose(process);
  return folders;
}

/// The file of clang's library that the loader finds for the compiler. The cache's key is needed while nothing is
/// loaded: loading clang takes longer than starting from the cache. So this searches as the loader does, and then the
/// folder that the compiler was linked in.
std::filesystem::path find_clang() {
  std::vector<std::filesystem::path> folders = loader_folders();
  folders.emplace_back(GPULUA_CLANG_FOLDER);
  for (const std::filesystem::path& folder : folders) {
    const std::filesystem::path file = folder / GPULUA_CLANG_LIBRARY;
    std::error_code error;
    if (std::filesystem::exists(file, error)) return file;
  }
  return {};
}

#else

constexpr const char* how_to_install =
    "[compile] the cpu device compiles kernels with clang, in a library of gpulua's that cannot be loaded ({}); "
    "reinstall gpulua";

std::filesystem::path find_clang() {
  return {};
}

#endif

}  // namespace

CompilerLibrary::CompilerLibrary(const Config& config)
    : path_(own_folder() / "libgpulua-cpu-compiler.so"), clang_(find_clang()), threads_(config.fault_handlers) {}

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
      .add(file_identity(clang_))
      .add(target.processor)
      .add(std::uint64_t{target.checked})
      .add(std::uint64_t{target.code.all})
      .add(target.code.kernel)
      .add(target.code.ir)
      .add(target.code.rule ? std::uint64_t{static_cast<unsigned>(*target.code.rule)} + 1 : 0)
      .add(source)
      .digest();
}

const CompilerEntry& CompilerLibrary::entry() {
  std::lock_guard lock(mutex_);
  if (entry_ != nullptr) return *entry_;
  std::string why;
  DynamicLibrary library = DynamicLibrary::open(path_.string(), why);
  if (!library) throw Error(ErrorKind::unavailable, how_to_install, why);

  const auto* found = static_cast<const CompilerEntry*>(library.symbol("gpulua_cpu_compiler"));
  if (found == nullptr || found->version != compiler_version)
    throw Error(ErrorKind::unavailable, "[compile] {} is of another version of gpulua; reinstall gpulua",
                path_.string());
  entry_ = found;
  return *entry_;
}

bool includes_files(const KernelSource& source) {
  return std::ranges::any_of(source.parts, includes_files) || !source.include_dirs.empty() ||
         std::any_of(source.options.begin(), source.options.end(), [](const std::string& option) {
           return option.starts_with("-I") || option.starts_with("--include-path") ||
                  option.starts_with("--pre-include");
         });
}

}  // namespace gpulua::cpu
