#pragma once

// The kernel cache on disk. Entries are machine code that runs with the user's rights. So directories and entries count
// only if they belong to the effective user and nobody else may write to them. Links are not followed below the
// directory that the user named.
//
// An entry is one file, DIRECTORY/ab/ab..., named by its digest. It is written under a temporary name and renamed, so a
// reader sees all of it or nothing, and it carries a checksum over its name and content. The least recently used
// entries are removed when the directory passes its limit. Any number of processes may share one directory.

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace gpulua {

class CacheDirectory {
 public:
  static constexpr std::size_t digest_size = 32;  // hexadecimal digits

  /// `path` empty: there is no directory. `limit` in bytes. `warn` gets one message when a directory or an entry is not
  /// used because it is not the user's alone.
  CacheDirectory(std::filesystem::path path, std::uintmax_t limit, std::function<void(const std::string&)> warn);

  /// The payload of the entry; nothing when there is no such entry, or it is damaged.
  std::optional<std::string> read(std::string_view digest);
  /// Stores the payload, unless it is larger than the limit. Does nothing where the directory cannot be written.
  void write(std::string_view digest, std::string_view payload);

 private:
  class Folder;

  Folder open(bool make);
  Folder open_below(const Folder& folder, std::string_view name);
  bool trusted(int descriptor, const std::filesystem::path& path);
  void count(const Folder& folder, std::uintmax_t added);
  std::uintmax_t evict(const Folder& folder);

  std::filesystem::path path_;
  std::uintmax_t limit_;
  std::function<void(const std::string&)> warn_;
  std::atomic<bool> warned_{false};
};

/// A hash of the bytes: 32 hexadecimal digits.
std::string hash_of(std::string_view bytes);

}  // namespace gpulua
