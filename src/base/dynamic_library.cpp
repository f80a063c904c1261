#include "src/base/dynamic_library.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <system_error>
#include <utility>

#include "src/base/error.h"

namespace gpulua {
namespace {

namespace fs = std::filesystem;

#if defined(__aarch64__)
constexpr std::string_view multiarch = "aarch64-linux-gnu", cuda_target = "sbsa-linux";
#else
constexpr std::string_view multiarch = "x86_64-linux-gnu", cuda_target = "x86_64-linux";
#endif

std::optional<fs::path> find_in(const fs::path& directory, std::span<const std::string_view> names) {
  std::error_code ignored;
  for (std::string_view name : names)
    if (fs::path file = directory / name; fs::exists(file, ignored)) return file;
  return std::nullopt;
}

std::optional<fs::path> find_in_toolkit(const fs::path& root, std::span<const std::string_view> names) {
  for (const fs::path& directory : {root / "lib64", root / "lib", root / "targets" / cuda_target / "lib"})
    if (auto file = find_in(directory, names)) return file;
  return std::nullopt;
}

/// The directories in `parent`; none where it cannot be read.
std::vector<fs::path> subdirectories(const fs::path& parent, std::string_view name_starts_with = "") {
  std::vector<fs::path> result;
  std::error_code error;
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    if (entry->path().filename().native().starts_with(name_starts_with) && entry->is_directory(ignored))
      result.push_back(entry->path());
  }
  return result;
}

/// Looks through prefix/lib/python3*/{site,dist}-packages/nvidia/*/lib, where pip puts NVIDIA's wheels.
std::optional<fs::path> find_in_wheels(const fs::path& prefix, std::span<const std::string_view> names) {
  for (const fs::path& python : subdirectories(prefix / "lib", "python3"))
    for (const char* packages : {"site-packages", "dist-packages"})
      for (const fs::path& wheel : subdirectories(python / packages / "nvidia"))
        if (auto file = find_in(wheel / "lib", names)) return file;
  return std::nullopt;
}

}  // namespace

DynamicLibrary DynamicLibrary::open(const std::string& file, std::string& why) {
  DynamicLibrary library;
  library.handle_ = ::dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!library) {
    const char* message = ::dlerror();
    why = message != nullptr ? message : "cannot open " + file;
  }
  return library;
}

void* DynamicLibrary::symbol(const char* name) const {
  return handle_ != nullptr ? ::dlsym(handle_, name) : nullptr;
}

OptionalLibrary::OptionalLibrary(std::string op, const std::string& need, const std::vector<std::string>& files,
                                 std::string install)
    : op_(std::move(op)), install_(std::move(install)) {
  std::string reasons;
  for (const std::string& file : files) {
    std::string why;
    library_ = DynamicLibrary::open(file, why);
    file_ = file;
    if (library_) return;
    reasons += reasons.empty() ? why : "; nor is there " + file;
  }
  throw Error(ErrorKind::unavailable, "[{}] {} ({}); install it with: {}", op_, need, reasons, install_);
}

void* OptionalLibrary::address(const std::string& name) const {
  void* const found = library_.symbol(name.c_str());
  if (found == nullptr)
    throw Error(ErrorKind::unavailable, "[{}] {} has no {}; install one that does with: {}", op_, file_, name,
                install_);
  return found;
}

std::optional<fs::path> find_cuda_library(const Config& config, std::span<const std::string_view> names) {
  for (const fs::path& directory : config.library_path)
    if (auto file = find_in(directory, names)) return file;
  const fs::path usr = "/usr";
  for (const fs::path& directory : {usr / "local/lib" / multiarch, usr / "local/lib", fs::path("/lib") / multiarch,
                                    usr / "lib" / multiarch, fs::path("/lib64"), usr / "lib64", usr / "lib"})
    if (auto file = find_in(directory, names)) return file;

  if (!config.cuda_home.empty())
    if (auto file = find_in_toolkit(config.cuda_home, names)) return file;
  if (auto file = find_in_toolkit(config.default_cuda_home, names)) return file;

  for (const fs::path& prefix : config.python_prefixes)
    if (auto file = find_in_wheels(prefix, names)) return file;
  for (const fs::path& prefix : {usr / "local", usr})
    if (auto file = find_in_wheels(prefix, names)) return file;
  return std::nullopt;
}

fs::path folder_of_code(const void* address) {
  Dl_info info{};
  const bool known = ::dladdr(address, &info) != 0 && info.dli_fname != nullptr;
  const fs::path file = known ? info.dli_fname : "";
  std::error_code error;
  // A library's name has its path. The main program's name is argv[0], which need not have a path.
  fs::path real = file.has_parent_path() ? fs::canonical(file, error) : fs::path();
  if (real.empty()) real = fs::canonical("/proc/self/exe", error);
  return real.parent_path();
}

std::string file_identity(const fs::path& file) {
  std::error_code error;
  const fs::path real = fs::canonical(file, error);
  const std::string& path = (error ? file : real).native();
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) return path;
  return path + '|' + std::to_string(status.st_size) + '|' + std::to_string(status.st_mtim.tv_sec) + '.' +
         std::to_string(status.st_mtim.tv_nsec);
}

}  // namespace gpulua
