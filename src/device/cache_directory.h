#pragma once

// The kernel cache on disk. What is in it is machine code that will run with the user's rights, so it is taken from the
// user's own hands alone: directories and entries are his (the effective user's) and nobody else may write to them.
// Links are not followed below the directory that the user named.
//
// An entry is one file, DIRECTORY/ab/ab..., called by its digest. It is written to a temporary name and renamed, so a
// reader sees all of it or none, and carries a checksum over its name and its content. The least recently used entries
// go when the directory passes its limit. Any number of processes may share one directory.

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

  /// `path` empty: there is none. `limit` in bytes. `warn` gets a message, once, when what stands in the directory is
  /// not the user's alone and is therefore not used.
  CacheDirectory(std::filesystem::path path, std::uintmax_t limit, std::function<void(const std::string&)> warn);

  /// The payload of that entry; nothing when there is none, or none that is sound.
  std::optional<std::string> read(std::string_view digest);
  /// Keeps the payload, unless it alone is above the limit. A directory that cannot be written keeps nothing.
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

/// 32 hexadecimal digits that tell the bytes from others.
std::string hash_of(std::string_view bytes);

}  // namespace gpulua
