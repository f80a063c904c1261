#pragma once

// Files of the host. What the system refuses is an Error of kind `file`, "[op] cannot open PATH: REASON"; a path with a
// zero byte, which no file has, is misuse.

#include <cstddef>
#include <cstdio>
#include <memory>
#include <span>
#include <string>

#include "src/base/error.h"

namespace gpulua {

enum class FileAccess { map, read };

/// The bytes of a regular file, mapped into memory, or read at once. Should another process shorten a mapped file,
/// reading what is gone ends this one: a program that cannot rule that out reads.
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

/// Where writing to `path` puts the file: where symbolic links lead, though there may be no file yet. Throws for what
/// is there and is no regular file.
std::string write_target(const char* op, const std::string& path);

/// A file written beside its path, which commit() renames to it. Without commit() the old file stays and nothing of the
/// new one does.
class NewFile {
 public:
  NewFile(const char* op, const std::string& path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  std::FILE* stream() const { return file_; }
  /// Where it is until commit().
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
