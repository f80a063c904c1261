#pragma once

#include <string>
#include <string_view>

namespace gpulua::cpu {

/// A file that is only in memory and has a path while this object lives.
class MemoryFile {
 public:
  /// Throws ErrorKind::memory when the system gives none.
  explicit MemoryFile(std::string_view content);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  /// Under /proc/self; the number in it is given out again when the object is gone.
  std::string path() const;

 private:
  int descriptor_;
};

}  // namespace gpulua::cpu
