#include "src/device/shared/shared_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "src/base/error.h"

namespace gpulua {
namespace {

constexpr const char* file_name = "gpulua-array";
/// What the system calls an open file of that name.
constexpr std::string_view open_file_name = "/memfd:gpulua-array (deleted)";

/// Puts all pages of the file into memory, in parts: a signal ends a call without a result.
bool fill_with_pages(int descriptor, std::size_t bytes) {
  constexpr std::size_t part = std::size_t{64} << 20;
  for (std::size_t first = 0; first < bytes;) {
    const std::size_t count = std::min(part, bytes - first);
    const int failed = fallocate(descriptor, 0, static_cast<off_t>(first), static_cast<off_t>(count));
    if (failed == 0)
      first += count;
    else if (errno != EINTR)
      return false;
  }
  return true;
}

[[noreturn]] void refuse_system(const SharedPlace& place, int error) {
  if (error == ENOENT) refuse_freed(place);
  if (error == EACCES || error == EPERM)
    throw Error(
        "[from_ipc] expected a handle of a process whose memory this one may open, got one of process {}: the system "
        "allows it between processes of one user",
        place.process);
  throw Error(ErrorKind::memory, "[from_ipc] cannot open the memory of process {}: {}", place.process,
              std::strerror(error));
}

}  // namespace

std::optional<SharedFile> SharedFile::make(std::size_t bytes) {
  SharedFile file(memfd_create(file_name, MFD_CLOEXEC | MFD_ALLOW_SEALING), {}, bytes);
  const auto refuse = [] {
    throw Error(ErrorKind::memory, "[ipc_handle] the system makes no file in memory: {}{}", std::strerror(errno),
                errno == EMFILE ? "; each array with a handle has one open: ulimit -n says how many there may be" : "");
  };
  if (file.descriptor_ < 0) {
    if (errno == ENOMEM) return std::nullopt;
    refuse();
  }
  if (!fill_with_pages(file.descriptor_, bytes)) {
    if (errno == ENOMEM || errno == ENOSPC) return std::nullopt;
    refuse();
  }
  struct stat about {};
  if (fstat(file.descriptor_, &about) != 0) refuse();
  file.place_ = {getpid(), file.descriptor_, about.st_ino};
  return file;
}

SharedFile SharedFile::open(const SharedPlace& place, bool read_only) {
  const std::string path = "/proc/" + std::to_string(place.process) + "/fd/" + std::to_string(place.descriptor);
  // Looked at before it is opened: to open a device or a pipe may wait, or do something.
  std::array<char, 64> name{};
  const ssize_t length = readlink(path.c_str(), name.data(), name.size());
  if (length < 0) refuse_system(place, errno);
  if (std::string_view(name.data(), static_cast<std::size_t>(length)) != open_file_name) refuse_freed(place);
  SharedFile file(::open(path.c_str(), (read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC), place, 0);
  if (file.descriptor_ < 0) refuse_system(place, errno);
  struct stat about {};
  if (fstat(file.descriptor_, &about) != 0 || about.st_ino != place.file) refuse_freed(place);
  file.bytes_ = static_cast<std::size_t>(about.st_size);
  return file;
}

SharedFile::~SharedFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

void SharedFile::seal_size() {
  if (fcntl(descriptor_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    throw Error(ErrorKind::memory, "[ipc_handle] the system fixes no size of a file in memory: {}",
                std::strerror(errno));
}

bool SharedFile::has_sealed_size() const {
  constexpr int wanted = F_SEAL_SHRINK | F_SEAL_GROW;
  const int seals = fcntl(descriptor_, F_GET_SEALS);
  return seals >= 0 && (seals & wanted) == wanted;
}

bool SharedFile::lock_together() noexcept {
  return flock(descriptor_, LOCK_SH | LOCK_NB) == 0;
}

bool SharedFile::lock_alone() noexcept {
  return flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
}

void refuse_freed(const SharedPlace& place) {
  throw Error("[from_ipc] expected a handle of an array that lives, got one whose array process {} has freed",
              place.process);
}

}  // namespace gpulua
