#include "src/device/cpu/linker.h"

#include <dlfcn.h>
#include <link.h>
#include <lld/Common/Driver.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <vector>

#include "src/core/error.h"
#include "src/device/cpu/memory_file.h"
#include "src/device/cpu/simd/math_library.h"

LLD_HAS_DRIVER(elf)

namespace gpulua::cpu {
namespace {

/// Where the loader found a library of the C library's. The ones that are running are there on every machine; the names
/// that a linker would look for come with development packages only.
std::string loaded_path(const char* name) {
  void* handle = dlopen(name, RTLD_LAZY);
  link_map* map = nullptr;
  if (handle == nullptr || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
    throw Error(ErrorKind::unavailable, std::string("[compile] cannot find ") + name);
  return map->l_name;
}

/// A file of ours alone in the system's folder for temporary files. lld renames its output into place, so a file in
/// memory will not do.
class TemporaryFile {
 public:
  TemporaryFile() : path_((std::filesystem::temp_directory_path() / "gpulua-XXXXXX").string()) {
    int descriptor = mkstemp(path_.data());
    if (descriptor < 0)
      throw Error(ErrorKind::unavailable,
                  "[compile] cannot make a temporary file " + path_ + ": " + std::strerror(errno));
    close(descriptor);
  }
  ~TemporaryFile() { unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }
  std::string read() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string path_;
};

}  // namespace

std::string link_shared_object(const std::string& object) {
  static std::mutex mutex;  // lld keeps its state in globals
  static bool usable = true;
  std::lock_guard lock(mutex);
  if (!usable)
    throw Error(ErrorKind::compile, "[compile] the linker failed earlier in this process and cannot run again");

  MemoryFile input(object);
  TemporaryFile output;
  const std::string input_path = input.path();
  const std::string libm = loaded_path("libm.so.6"), libc = loaded_path("libc.so.6");
  const std::string libgcc =
      loaded_path("libgcc_s.so.1");  // 128-bit division, double to half where the processor has none
  const std::string libsleef = simd::has_sleef() ? loaded_path("libsleef.so.3") : libm;
  const std::vector<const char*> arguments{"ld.lld",           "-shared",         "-o",          output.path().c_str(),
                                           input_path.c_str(), "--as-needed",     libm.c_str(),  libsleef.c_str(),
                                           libc.c_str(),       libgcc.c_str(),    "-z",          "defs",
                                           "--eh-frame-hdr",   "--build-id=none", "--threads=1", "--error-limit=20"};
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  lld::Result result = lld::lldMain(arguments, llvm::nulls(), stream, {{lld::Gnu, &lld::elf::link}});
  usable = result.canRunAgain;
  if (result.retCode != 0)
    throw Error(ErrorKind::compile, "[compile] the kernel source does not link:\n" + stream.str());
  return output.read();
}

}  // namespace gpulua::cpu
