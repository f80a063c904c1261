#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

namespace gpulua::cpu {

/// The shared memory of a block that runs; it grows to the most that was asked for.
class SharedArena {
 public:
  /// Null for no bytes. Throws std::bad_alloc.
  char* reserve(std::size_t bytes) {
    if (bytes > bytes_) {
      bytes_ = 0;
      const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
      memory_.reset(static_cast<char*>(std::aligned_alloc(alignment, rounded)));
      if (!memory_) throw std::bad_alloc();
      bytes_ = rounded;
    }
    return bytes == 0 ? nullptr : memory_.get();
  }

 private:
  static constexpr std::size_t alignment = 128;
  struct Free {
    void operator()(char* memory) const { std::free(memory); }
  };
  std::unique_ptr<char, Free> memory_;
  std::size_t bytes_ = 0;
};

}  // namespace gpulua::cpu
