#include "src/base/memory_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "src/base/error.h"

namespace gpulua::cpu {
namespace {

[[noreturn]] void throw_failure(const char* what) {
  throw Error(ErrorKind::memory, "[compile] cannot {} a file in memory: {}", what, std::strerror(errno));
}

}  // namespace

MemoryFile::MemoryFile(std::string_view content) : descriptor_(memfd_create("gpulua", MFD_CLOEXEC)) {
  if (descriptor_ < 0) throw_failure("make");
  while (!content.empty()) {
    ssize_t written = write(descriptor_, content.data(), content.size());
    if (written < 0) {
      int error = errno;
      close(descriptor_);
      errno = error;
      throw_failure("write");
    }
    content.remove_prefix(static_cast<std::size_t>(written));
  }
}

MemoryFile::~MemoryFile() {
  close(descriptor_);
}

std::string MemoryFile::path() const {
  return "/proc/self/fd/" + std::to_string(descriptor_);
}

}  // namespace gpulua::cpu
