#include "src/device/cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "src/core/error.h"

namespace gpulua {
namespace {

namespace fs = std::filesystem;

// A file is header, digest, checksum, payload; the version counts changes of this layout.
constexpr std::string_view magic = "gpulua kernel 1\n";
constexpr std::size_t digest_size = 32, checksum_size = 32;
constexpr std::size_t payload_at = magic.size() + digest_size + checksum_size;

std::string hash(std::string_view bytes) {
  const XXH128_hash_t value = XXH3_128bits(bytes.data(), bytes.size());
  std::string result;
  for (XXH64_hash_t half : {value.high64, value.low64})
    for (int shift = 60; shift >= 0; shift -= 4) result += "0123456789abcdef"[half >> shift & 15];
  return result;
}

bool is_hexadecimal(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() { close(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  explicit operator bool() const { return descriptor_ >= 0; }

  /// All of a regular file.
  std::optional<std::string> read() const {
    struct stat status;
    if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t count = ::read(descriptor_, bytes.data() + done, bytes.size() - done);
      if (count == 0 || (count < 0 && errno != EINTR)) return std::nullopt;
      if (count > 0) done += static_cast<std::size_t>(count);
    }
    return bytes;
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

fs::path file_of(const fs::path& directory, std::string_view digest) {
  return directory / digest.substr(0, 2) / digest;
}

struct Entry {
  fs::path file;
  std::uintmax_t size;
  fs::file_time_type used;
};

/// The cache's own files, temporary ones that a killed process left included. Whatever else stands in the directory,
/// which the user may have pointed anywhere, is not ours to count or to remove.
std::vector<Entry> list_entries(const fs::path& directory) {
  std::vector<Entry> entries;
  std::error_code error;
  for (fs::directory_iterator folder(directory, error), end; !error && folder != end; folder.increment(error)) {
    const std::string prefix = folder->path().filename();
    if (prefix.size() != 2 || !is_hexadecimal(prefix)) continue;
    std::error_code unreadable;
    for (fs::directory_iterator file(folder->path(), unreadable); !unreadable && file != end;
         file.increment(unreadable)) {
      const std::string name = file->path().filename();
      if (!name.starts_with(prefix) || name.size() < digest_size || !is_hexadecimal(name.substr(0, digest_size)))
        continue;
      std::error_code vanished;
      if (!fs::is_regular_file(file->symlink_status(vanished))) continue;
      const std::uintmax_t size = file->file_size(vanished);
      if (vanished) continue;
      const fs::file_time_type used = file->last_write_time(vanished);
      if (!vanished) entries.push_back({file->path(), size, used});
    }
  }
  return entries;
}

}  // namespace

CacheKey& CacheKey::add(std::string_view field) {
  add(field.size());
  bytes_.append(field);
  return *this;
}

CacheKey& CacheKey::add(std::uint64_t field) {
  for (int shift = 0; shift < 64; shift += 8) bytes_.push_back(static_cast<char>(field >> shift));
  return *this;
}

CacheKey& CacheKey::add(const KernelSource& source) {
  const auto add_texts = [this](const std::vector<std::string>& texts) {
    add(texts.size());
    for (const std::string& text : texts) add(text);
  };
  const auto add_pairs = [this](const std::vector<std::pair<std::string, std::string>>& pairs) {
    add(pairs.size());
    for (const auto& [name, text] : pairs) add(name).add(text);
  };
  add(source.text).add(source.file).add(static_cast<std::uint64_t>(source.line));
  add_texts(source.options);
  add_pairs(source.defines);
  add_pairs(source.headers);
  add_texts(source.include_dirs);
  add_texts(source.names);
  return *this;
}

std::string CacheKey::digest() const {
  return hash(bytes_);
}

KernelCache::KernelCache(fs::path directory, std::uintmax_t limit) : directory_(std::move(directory)), limit_(limit) {}

std::shared_ptr<const CompiledModule> KernelCache::get(const std::string& digest,
                                                       const std::function<CompiledModule()>& compile) {
  {
    const std::lock_guard lock(mutex_);
    if (auto found = memory_.find(digest); found != memory_.end()) return found->second;
  }
  // Unlocked: other keys need not wait for a compiler. Two threads may compile the same key; the first result stays.
  std::shared_ptr<const CompiledModule> module = load(digest);
  if (module == nullptr) {
    module = std::make_shared<const CompiledModule>(compile());
    store(digest, *module);
  }
  const std::lock_guard lock(mutex_);
  return memory_.emplace(digest, std::move(module)).first->second;
}

std::shared_ptr<const CompiledModule> KernelCache::load(const std::string& digest) {
  if (directory_.empty()) return nullptr;
  const fs::path path = file_of(directory_, digest);
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return nullptr;
  const std::optional<std::string> bytes = file.read();
  if (!bytes || bytes->size() < payload_at) return nullptr;
  const std::string_view all = *bytes, payload = all.substr(payload_at);
  if (!all.starts_with(magic) || all.substr(magic.size(), digest_size) != digest ||
      all.substr(magic.size() + digest_size, checksum_size) != hash(payload))
    return nullptr;
  try {
    auto module = std::make_shared<const CompiledModule>(deserialize(payload));
    // The time of the last change is the time of the last use, which eviction goes by.
    std::error_code ignored;
    fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
    return module;
  } catch (const Error&) {
    return nullptr;
  }
}

void KernelCache::store(const std::string& digest, const CompiledModule& module) noexcept try {
  if (directory_.empty()) return;
  const std::string payload = serialize(module);
  if (payload_at + payload.size() > limit_) return;
  const fs::path path = file_of(directory_, digest);
  if (!make_directories(path.parent_path())) return;

  std::string temporary = path.string() + ".XXXXXX";
  File file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file) return;
  const bool written = file.write(std::string(magic) + digest + hash(payload)) && file.write(payload) && file.close();
  if (written && ::rename(temporary.c_str(), path.c_str()) == 0)
    evict();
  else
    ::unlink(temporary.c_str());
} catch (const std::exception&) {
  // Not kept: the next process compiles again.
}

void KernelCache::evict() noexcept try {
  std::vector<Entry> entries = list_entries(directory_);
  std::uintmax_t total = 0;
  for (const Entry& entry : entries) total += entry.size;
  if (total <= limit_) return;

  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  const std::uintmax_t enough = limit_ - limit_ / 10;
  for (const Entry& entry : entries) {
    if (total <= enough) return;
    std::error_code ignored;
    fs::remove(entry.file, ignored);
    total -= entry.size;
  }
} catch (const std::exception&) {
  // The directory stays as it is until the next store.
}

}  // namespace gpulua
