#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "src/device/shared_memory.h"

namespace gpulua {

/// A file in memory that other processes find by its place while this one has it open. It has no name in a file system,
/// so nothing is left of it when the last process that has it open or mapped ends.
class SharedFile {
 public:
  /// A new file of `bytes`, all of them in memory. Nothing where there is no room. Throws Error where the system makes
  /// no such file.
  static std::optional<SharedFile> make(std::size_t bytes);
  /// The file of another process. Throws Error where it is not there, or not for this process.
  static SharedFile open(const SharedPlace& place, bool read_only);
  SharedFile(SharedFile&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), place_(other.place_), bytes_(other.bytes_) {}
  SharedFile& operator=(SharedFile&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(place_, other.place_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~SharedFile();

  int descriptor() const { return descriptor_; }
  const SharedPlace& place() const { return place_; }
  /// When it was made or opened.
  std::size_t bytes() const { return bytes_; }

  /// Nobody changes its size from now on, so that no access to it as memory fails.
  void seal_size();
  bool has_sealed_size() const;

  /// Those who have opened the file can lock it together, or one of them alone. False: another one keeps this from it.
  /// A lock ends with the file, also when the process is killed.
  bool lock_together() noexcept;
  bool lock_alone() noexcept;

 private:
  SharedFile(int descriptor, const SharedPlace& place, std::size_t bytes)
      : descriptor_(descriptor), place_(place), bytes_(bytes) {}

  int descriptor_;
  SharedPlace place_;
  std::size_t bytes_;
};

/// Throws the Error for a block that its process has given up.
[[noreturn]] void refuse_freed(const SharedPlace& place);

}  // namespace gpulua
