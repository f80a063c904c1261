#include "src/files/host_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace gpulua {

namespace {

/// For a message: the folder of `path` that does not exist; empty when it exists.
std::string missing_folder(const std::string& path) {
  if (path.starts_with("~")) return "; ~ is the shell's, os.getenv(\"HOME\") is the folder";
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code failure;
  return folder.empty() || std::filesystem::exists(folder, failure) ? "" : "; there is no folder " + folder.string();
}

[[noreturn]] void fail_file(const char* op, const char* verb, const std::string& path, const std::string& reason) {
  throw Error(ErrorKind::file, "[{}] cannot {} {}: {}{}", op, verb, path, reason, missing_folder(path));
}

/// Throws Error for a zero byte. The system reads a path up to the first zero byte and would open a different file.
const std::string& check_path(const char* op, const std::string& path) {
  if (const std::size_t zero = path.find('\0'); zero != path.npos)
    throw Error("[{}] expected a path without zero bytes, got one after \"{}\"", op, path.substr(0, zero));
  return path;
}

/// A file descriptor, closed at the end of its scope.
struct Descriptor {
  explicit Descriptor(int number_) : number(number_) {}
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number;
};

}  // namespace

FileBytes::FileBytes(const char* op, const std::string& path, FileAccess access) {
  const auto check = [&](bool good) {
    if (!good) fail_file(op, "open", path, std::strerror(errno));
  };
  // Without O_NONBLOCK, open() would wait for the writer of a pipe before fstat() can reject it.
  const Descriptor file(::open(check_path(op, path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  check(file.number >= 0);
  struct stat status;
  check(::fstat(file.number, &status) == 0);
  if (S_ISDIR(status.st_mode)) fail_file(op, "open", path, std::strerror(EISDIR));
  if (!S_ISREG(status.st_mode)) fail_file(op, "open", path, "not a regular file");
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ == 0) return;

  if (access == FileAccess::map) {
    void* memory = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.number, 0);
    check(memory != MAP_FAILED);
    data_ = static_cast<const char*>(memory);
    mapped_ = true;
    return;
  }
  read_ = std::make_unique_for_overwrite<char[]>(size_);
  std::size_t done = 0;
  while (done < size_) {
    const ssize_t count = ::read(file.number, read_.get() + done, size_ - done);
    if (count < 0 && errno == EINTR) continue;
    check(count >= 0);
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  data_ = read_.get();
  size_ = done;
}

FileBytes::~FileBytes() {
  if (mapped_) ::munmap(const_cast<char*>(data_), size_);
}

std::string write_target(const char* op, const std::string& path) {
  namespace fs = std::filesystem;
  constexpr int most_links = 40;  // Linux's own limit
  std::error_code failure;
  fs::path target = check_path(op, path);
  for (int links = 0; fs::is_symlink(fs::symlink_status(target, failure)); ++links) {
    if (links == most_links) fail_file(op, "open", path, std::strerror(ELOOP));
    target = target.parent_path() / fs::read_symlink(target, failure);
    if (failure) fail_file(op, "open", path, failure.message());
  }
  const auto status = fs::status(target, failure);
  if (fs::is_directory(status)) fail_file(op, "open", path, std::strerror(EISDIR));
  if (fs::exists(status) && !fs::is_regular_file(status)) fail_file(op, "open", path, "not a regular file");
  return target.string();
}

NewFile::NewFile(const char* op, const std::string& path) : op_(op), path_(path), target_(write_target(op, path)) {
  // A file without write permission is not replaced either.
  struct stat old;
  const bool replaces = ::stat(target_.c_str(), &old) == 0;
  if (replaces && ::access(target_.c_str(), W_OK) != 0) fail("open");

  static std::atomic<unsigned> count = 0;
  // The temporary name does not contain the target's name, which can be as long as the file system permits.
  const auto folder = std::filesystem::path(target_).parent_path();
  int descriptor = -1;
  do {
    beside_ = folder / (".gpulua-" + std::to_string(::getpid()) + "-" + std::to_string(count++) + ".part");
    descriptor = ::open(beside_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EEXIST);
  if (descriptor < 0) fail("open");
  if (replaces) ::fchmod(descriptor, old.st_mode & 07777);
  file_ = ::fdopen(descriptor, "wb");
  if (file_) return;
  const int reason = errno;
  ::close(descriptor);
  ::unlink(beside_.c_str());
  errno = reason;
  fail("open");
}

NewFile::~NewFile() {
  if (file_) std::fclose(file_);
  if (!beside_.empty()) ::unlink(beside_.c_str());
}

void NewFile::write(std::span<const char> bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail("write");
}

void NewFile::commit() {
  if (std::fclose(std::exchange(file_, nullptr)) != 0) fail("write");
  if (::rename(beside_.c_str(), target_.c_str()) != 0) fail("write");
  beside_.clear();
}

void NewFile::fail(const char* verb) const {
  fail_file(op_, verb, path_, std::strerror(errno));
}

}  // namespace gpulua
