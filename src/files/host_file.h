#pragma once

// Files of the host. A failure of the system is an Error of kind `file`, "[op] cannot open PATH: REASON". A path with a
// zero byte is misuse.

#include <cstddef>
#include <cstdio>
#include <memory>
#include <span>
#include <string>

#include "src/base/error.h"

namespace gpulua {

enum class FileAccess { map, read };

/// The bytes of a regular file, mapped into memory or read at once. If another process truncates a mapped file, a read
/// of the missing bytes ends this process; a program that cannot exclude that uses FileAccess::read.
class FileBytes {
 public:
  FileBytes(const char* op, const std::string& path, FileAccess access = FileAccess::map);
  ~FileBytes();
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  std::span<const char> bytes() const { return {data_, size_}; }

 private:
  const char* data_ = nullptr;
  std::size_t size_ = 0;
  bool mapped_ = false;
  std::unique_ptr<char[]> read_;
};

/// The path that a write to `path` creates or replaces: symbolic links are followed, and the file need not exist.
/// Throws Error when the path exists and is not a regular file.
std::string write_target(const char* op, const std::string& path);

/// A file that is written under a temporary name in the target's folder; commit() renames it to the target. Without
/// commit() the old file stays and the new one is deleted.
class NewFile {
 public:
  NewFile(const char* op, const std::string& path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  std::FILE* stream() const { return file_; }
  /// The temporary path until commit().
  const std::string& beside() const { return beside_; }
  void write(std::span<const char> bytes);
  void commit();

 private:
  [[noreturn]] void fail(const char* verb) const;

  const char* op_;
  std::string path_, target_, beside_;
  std::FILE* file_ = nullptr;
};

}  // namespace gpulua
