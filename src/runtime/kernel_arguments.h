#pragma once

#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "src/device/kernel.h"

namespace gpulua {

/// The values of a kernel's parameters, packed in one block of bytes.
class Arguments {
 public:
  /// Appends a value. Returns its offset in the block.
  std::size_t add(const void* value, std::size_t bytes) {
    const std::size_t at = (bytes_.size() + 15) / 16 * 16;
    offsets_.push_back(at);
    bytes_.resize(at + bytes);
    std::memcpy(bytes_.data() + at, value, bytes);
    return at;
  }
  template <class T>
  std::size_t add(const T& value) {
    return add(&value, sizeof value);
  }
  /// Overwrites the value at offset `at`.
  void put(std::size_t at, const void* value, std::size_t bytes) { std::memcpy(bytes_.data() + at, value, bytes); }
  /// A pointer to each value, valid until the next add(). Throws std::logic_error unless the kernel has as many
  /// parameters as there are values.
  std::vector<void*> pointers(const Kernel& kernel) {
    if (const std::size_t wanted = kernel.entry().signature.parameters.size(); wanted != offsets_.size())
      throw std::logic_error(kernel.entry().name + " has " + std::to_string(wanted) + " parameters and was given " +
                             std::to_string(offsets_.size()));
    std::vector<void*> pointers;
    pointers.reserve(offsets_.size());
    for (std::size_t offset : offsets_) pointers.push_back(bytes_.data() + offset);
    return pointers;
  }

 private:
  std::vector<char> bytes_;
  std::vector<std::size_t> offsets_;
};

}  // namespace gpulua
