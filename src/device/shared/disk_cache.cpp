#include "src/device/shared/disk_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

namespace gpulua {
namespace {

namespace fs = std::filesystem;

// An entry's file: magic, digest, length of the payload, payload, checksum of all before it. The number counts changes
// of this layout.
constexpr std::string_view magic = "gpulua kernel 2\n";
constexpr std::size_t length_size = sizeof(std::uint64_t), checksum_size = 32;
constexpr std::size_t header_size = magic.size() + CacheDirectory::digest_size + length_size;
constexpr std::size_t around_payload = header_size + checksum_size;
// A temporary file has its entry's name, a dot, and this many letters.
constexpr std::size_t suffix_size = 6;

// The file with the number of bytes that the entries take and of stores since they were counted. Processes that write
// it at the same time lose each other's additions, so it is only about right: after a number of stores the entries
// are counted again.
struct Total {
  std::uint64_t bytes = 0, stores = 0;
};
constexpr const char* total_name = "gpulua-total";
constexpr std::uint64_t stores_a_count = 1024;

bool is_hexadecimal(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// True for names that the cache gives: of entries and of temporary files in folder `prefix`.
bool is_own_name(std::string_view name, std::string_view prefix) {
  constexpr std::size_t digits = CacheDirectory::digest_size;
  if (!name.starts_with(prefix) || !is_hexadecimal(name.substr(0, digits))) return false;
  if (name.size() == digits) return true;
  const auto is_letter = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'); };
  return name.size() == digits + 1 + suffix_size && name[digits] == '.' &&
         std::all_of(name.begin() + digits + 1, name.end(), is_letter);
}

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  ~File() { close(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  File& operator=(File&&) = delete;
  explicit operator bool() const { return descriptor_ >= 0; }
  int number() const { return descriptor_; }

  /// Fills `bytes` from position `at` on; false when the file ends before.
  bool read(std::span<char> bytes, std::size_t at) const {
    while (!bytes.empty()) {
      const ssize_t count = ::pread(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(at));
      if (count == 0 || (count < 0 && errno != EINTR)) return false;
      if (count <= 0) continue;
      bytes = bytes.subspan(static_cast<std::size_t>(count));
      at += static_cast<std::size_t>(count);
    }
    return true;
  }

  bool write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
      if (count < 0 && errno != EINTR) return false;
      if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }

  /// False when what was written has not arrived (a quota or a network's disk tells only now).
  bool close() {
    const int descriptor = std::exchange(descriptor_, -1);
    return descriptor < 0 || ::close(descriptor) == 0;
  }

 private:
  int descriptor_;
};

/// Makes the directory and what is missing above it, for this user alone.
bool make_directories(const fs::path& directory) {
  std::error_code ignored;
  if (fs::is_directory(directory, ignored)) return true;
  if (directory.has_parent_path() && directory.parent_path() != directory && !make_directories(directory.parent_path()))
    return false;
  return ::mkdir(directory.c_str(), 0700) == 0 || errno == EEXIST;
}

std::string header_of(std::string_view digest, std::uint64_t length) {
  std::string header(magic);
  header += digest;
  for (int shift = 0; shift < 64; shift += 8) header += static_cast<char>(length >> shift);
  return header;
}

/// A name for a file that is becoming the entry `digest`; another one each time.
std::string temporary_name(std::string_view digest) {
  static std::atomic<unsigned> count = 0;
  const std::string seed = std::to_string(::getpid()) + ' ' + std::to_string(count++);
  return std::string(digest) + '.' + hash_of(seed).substr(0, suffix_size);
}

/// The names in the directory; "." and ".." left out.
std::vector<std::string> names_in(int directory) {
  std::vector<std::string> names;
  // fdopendir takes over the descriptor, and reading moves its position: it gets one of its own.
  const int own = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (own < 0) return names;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::fdopendir(own), &::closedir);
  if (!open) {
    ::close(own);
    return names;
  }
  while (const dirent* item = ::readdir(open.get()))
    if (item->d_name[0] != '.') names.emplace_back(item->d_name);
  return names;
}

struct Entry {
  std::string name;
  std::uintmax_t size;
  timespec used;
};

}  // namespace

/// A directory of the cache that is open, and where it is; it may not be.
class CacheDirectory::Folder {
 public:
  Folder() : file_(-1) {}
  Folder(int descriptor, fs::path path) : file_(descriptor), path_(std::move(path)) {}

  explicit operator bool() const { return static_cast<bool>(file_); }
  int number() const { return file_.number(); }
  const fs::path& path() const { return path_; }
  /// A file in it; links are not followed, and what is no file does not make the call wait.
  File open(const std::string& name, int flags) const {
    return File(::openat(number(), name.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  }

 private:
  File file_;
  fs::path path_;
};

std::string hash_of(std::string_view bytes) {
  const XXH128_hash_t value = XXH3_128bits(bytes.data(), bytes.size());
  std::string result;
  for (XXH64_hash_t half : {value.high64, value.low64})
    for (int shift = 60; shift >= 0; shift -= 4) result += "0123456789abcdef"[half >> shift & 15];
  return result;
}

CacheDirectory::CacheDirectory(fs::path path, std::uintmax_t limit, std::function<void(const std::string&)> warn)
    : path_(std::move(path)), limit_(limit), warn_(std::move(warn)) {}

/// True when the open file or directory is the user's, and no one else may write to it.
bool CacheDirectory::trusted(int descriptor, const fs::path& path) {
  struct stat status;
  if (::fstat(descriptor, &status) != 0) return false;
  std::string why;
  if (status.st_uid != ::geteuid())
    why = "belongs to user " + std::to_string(status.st_uid) + ", not to user " + std::to_string(::geteuid()) +
          "; GPULUA_CACHE_DIR names a directory of your own";
  else if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    why = "can be written to by others than you; 'chmod -R go-w' on it changes that";
  if (why.empty()) return true;
  if (warn_ && !warned_.exchange(true))
    warn_("the kernel cache does not use " + path.string() + ", whose code would run as yours: it " + why);
  return false;
}

CacheDirectory::Folder CacheDirectory::open(bool make) {
  if (path_.empty() || (make && !make_directories(path_))) return {};
  // The directory itself may be a symbolic link: the user named it, and must own it like the rest.
  Folder folder(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), path_);
  if (!folder || !trusted(folder.number(), path_)) return {};
  return folder;
}

CacheDirectory::Folder CacheDirectory::open_below(const Folder& folder, std::string_view name) {
  const std::string own(name);
  Folder below(::openat(folder.number(), own.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW),
               folder.path() / own);
  if (!below || !trusted(below.number(), below.path())) return {};
  return below;
}

std::optional<std::string> CacheDirectory::read(std::string_view digest) {
  const Folder root = open(false);
  const Folder folder = root ? open_below(root, digest.substr(0, 2)) : Folder();
  if (!folder) return std::nullopt;
  const std::string name(digest);
  const File file = folder.open(name, O_RDONLY);
  struct stat status;
  if (!file || ::fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  if (!trusted(file.number(), folder.path() / name)) return std::nullopt;

  // Its length is compared before memory is asked for: the file may have been cut off, or be a hole of terabytes.
  const auto size = static_cast<std::uintmax_t>(status.st_size);
  if (size < around_payload || size > limit_) return std::nullopt;
  const std::string expected = header_of(digest, size - around_payload);
  std::string header(header_size, '\0');
  if (!file.read(header, 0) || header != expected) return std::nullopt;
  std::string bytes(size, '\0');
  if (!file.read(bytes, 0)) return std::nullopt;
  const std::size_t end = bytes.size() - checksum_size;
  if (hash_of(std::string_view(bytes).substr(0, end)) != std::string_view(bytes).substr(end)) return std::nullopt;
  // The time of the last change is the time of the last use, which eviction goes by.
  const timespec now[] = {{0, UTIME_OMIT}, {0, UTIME_NOW}};
  ::futimens(file.number(), now);
  return bytes.substr(header_size, end - header_size);
}

void CacheDirectory::write(std::string_view digest, std::string_view payload) {
  if (limit_ < around_payload || payload.size() > limit_ - around_payload) return;
  const Folder root = open(true);
  if (!root) return;
  const std::string prefix(digest.substr(0, 2)), name(digest);
  if (::mkdirat(root.number(), prefix.c_str(), 0700) != 0 && errno != EEXIST) return;
  const Folder folder = open_below(root, prefix);
  if (!folder) return;

  std::string bytes = header_of(digest, payload.size());
  bytes += payload;
  bytes += hash_of(bytes);
  for (int attempts = 0; attempts < 100; ++attempts) {
    const std::string temporary = temporary_name(digest);
    File file = folder.open(temporary, O_WRONLY | O_CREAT | O_EXCL);
    if (!file && errno == EEXIST) continue;
    if (!file) return;
    const bool written = file.write(bytes) && file.close();
    if (written && ::renameat(folder.number(), temporary.c_str(), folder.number(), name.c_str()) == 0)
      count(root, bytes.size());
    else
      ::unlinkat(folder.number(), temporary.c_str(), 0);
    return;
  }
}

/// Notes that the entries have become longer by `added` bytes, and evicts when they are too long.
void CacheDirectory::count(const Folder& folder, std::uintmax_t added) {
  const File file = folder.open(total_name, O_RDWR | O_CREAT);
  struct stat status;
  if (!file || ::fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  if (!trusted(file.number(), folder.path() / total_name)) return;
  Total total;
  char* const bytes = reinterpret_cast<char*>(&total);
  const bool sound = static_cast<std::size_t>(status.st_size) == sizeof total && file.read({bytes, sizeof total}, 0) &&
                     total.bytes <= limit_;
  total.bytes += added;
  ++total.stores;
  if (!sound || total.bytes > limit_ || total.stores >= stores_a_count) total = {evict(folder), 0};
  if (::ftruncate(file.number(), sizeof total) == 0)
    static_cast<void>(::pwrite(file.number(), bytes, sizeof total, 0) == sizeof total);
}

/// Removes what was not used the longest, where all there is passes the limit; gives the bytes that are left. Whatever
/// else is in the directory, which the user may have pointed anywhere, is not ours to count or to remove.
std::uintmax_t CacheDirectory::evict(const Folder& folder) {
  std::vector<Entry> entries;
  std::uintmax_t total = 0;
  for (const std::string& prefix : names_in(folder.number())) {
    if (prefix.size() != 2 || !is_hexadecimal(prefix)) continue;
    const Folder below = open_below(folder, prefix);
    if (!below) continue;
    for (std::string& name : names_in(below.number())) {
      struct stat status;
      if (!is_own_name(name, prefix) || ::fstatat(below.number(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
          !S_ISREG(status.st_mode))
        continue;
      entries.push_back({std::move(name), static_cast<std::uintmax_t>(status.st_size), status.st_mtim});
      total += entries.back().size;
    }
  }
  if (total <= limit_) return total;

  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  const std::uintmax_t enough = limit_ - limit_ / 10;
  for (const Entry& entry : entries) {
    if (total <= enough) break;
    const Folder below = open_below(folder, entry.name.substr(0, 2));
    if (below) ::unlinkat(below.number(), entry.name.c_str(), 0);
    total -= entry.size;
  }
  return total;
}

}  // namespace gpulua
