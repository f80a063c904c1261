#include "src/device/cpu/compiler/linker.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <lld/Common/Driver.h>
#include <llvm/Object/ObjectFile.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "src/base/error.h"
#include "src/base/memory_file.h"
#include "src/device/cpu/simd/math_library.h"

LLD_HAS_DRIVER(elf)

namespace gpulua::cpu {
namespace {

/// A shared library as the loader found it. Every machine has these files; the names that a linker looks for come with
/// development packages only.
class Library {
 public:
  explicit Library(const char* name) : handle_(dlopen(name, RTLD_LAZY)) {
    if (handle_ == nullptr || dlinfo(handle_, RTLD_DI_LINKMAP, &map_) != 0)
      throw Error(ErrorKind::unavailable, "[compile] cannot find {}", name);
  }
  const char* path() const { return map_->l_name; }
  /// True if the library itself defines the symbol, not one that it needs.
  bool defines(const std::string& symbol) const {
    const void* address = dlsym(handle_, symbol.c_str());
    Dl_info info;
    return address != nullptr && dladdr(address, &info) != 0 &&
           info.dli_fbase == reinterpret_cast<const void*>(map_->l_addr);
  }

 private:
  void* handle_;
  link_map* map_ = nullptr;
};

std::vector<std::string> undefined_symbols(const std::string& object) {
  auto file = llvm::cantFail(llvm::object::ObjectFile::createELFObjectFile({object, "object"}));
  std::vector<std::string> names;
  for (const llvm::object::SymbolRef& symbol : file->symbols())
    if (llvm::cantFail(symbol.getFlags()) & llvm::object::SymbolRef::SF_Undefined)
      if (std::string name = llvm::cantFail(symbol.getName()).str(); !name.empty()) names.push_back(std::move(name));
  return names;
}

/// The libraries that define a symbol of the object, always in the same order: lld reads all symbols of each library it
/// is given, which takes long. All libraries where none defines a symbol: lld then reports it.
std::vector<const char*> libraries_for(const std::string& object) {
  std::vector<Library> libraries{
      Library("libm.so.6"), Library("libc.so.6"),
      Library("libgcc_s.so.1")};  // 128-bit division, double to half where the processor has none
  if (simd::has_sleef()) libraries.emplace_back("libsleef.so.3");
  std::vector<bool> needed(libraries.size(), false);
  for (const std::string& symbol : undefined_symbols(object)) {
    auto found = std::ranges::find_if(libraries, [&](const Library& library) { return library.defines(symbol); });
    if (found != libraries.end())
      needed[static_cast<std::size_t>(found - libraries.begin())] = true;
    else
      needed.assign(libraries.size(), true);
  }
  std::vector<const char*> paths;
  for (std::size_t i = 0; i < libraries.size(); ++i)
    if (needed[i]) paths.push_back(libraries[i].path());
  return paths;
}

/// lld's output: a pipe, and a thread that reads it. For a file, lld would install handlers for all of the process's
/// signals, to remove a temporary file; signals belong to the host program.
class OutputPipe {
 public:
  OutputPipe() {
    if (pipe2(ends_, O_CLOEXEC) != 0)
      throw Error(ErrorKind::unavailable, "[compile] cannot make a pipe: {}", std::strerror(errno));
    reader_ = std::thread([this] { read_all(); });
  }
  ~OutputPipe() { finish(); }
  OutputPipe(const OutputPipe&) = delete;
  OutputPipe& operator=(const OutputPipe&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(ends_[1]); }
  /// The output. Call it once lld has ended.
  std::string finish() {
    if (reader_.joinable()) {
      close(ends_[1]);
      reader_.join();
      close(ends_[0]);
    }
    return std::move(content_);
  }

 private:
  void read_all() {
    std::array<char, 64 << 10> part;
    for (;;) {
      const ssize_t got = read(ends_[0], part.data(), part.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return;
      content_.append(part.data(), static_cast<std::size_t>(got));
    }
  }

  int ends_[2];
  std::string content_;
  std::thread reader_;
};

}  // namespace

bool is_math_function(const std::string& symbol) {
  return Library("libm.so.6").defines(symbol);
}

std::string link_shared_object(const std::string& object) {
  static std::mutex mutex;  // lld keeps its state in globals
  static bool usable = true;
  std::lock_guard lock(mutex);
  if (!usable)
    throw Error(ErrorKind::compile, "[compile] the linker failed earlier in this process and cannot run again");

  MemoryFile input(object);
  OutputPipe output;
  const std::string input_path = input.path(), output_path = output.path();
  std::vector<const char*> arguments{"ld.lld", "-shared", "-o", output_path.c_str(), input_path.c_str(), "--as-needed"};
  for (const char* library : libraries_for(object)) arguments.push_back(library);
  for (const char* option : {"-z", "defs", "--eh-frame-hdr", "--build-id=none", "--threads=1", "--error-limit=20"})
    arguments.push_back(option);
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  lld::Result result = lld::lldMain(arguments, llvm::nulls(), stream, {{lld::Gnu, &lld::elf::link}});
  usable = result.canRunAgain;
  if (result.retCode != 0)
    throw Error(ErrorKind::compile, "[compile] the kernel source does not link:\n{}", stream.str());
  return output.finish();
}

}  // namespace gpulua::cpu
