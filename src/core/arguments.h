#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

namespace gpulua {

/// The values of a kernel's parameters, one after the other.
class Arguments {
 public:
  Arguments() {
    bytes_.reserve(512);
    offsets_.reserve(16);
  }
  void add(const void* value, std::size_t bytes) {
    const std::size_t at = (bytes_.size() + 15) / 16 * 16;
    offsets_.push_back(at);
    bytes_.resize(at + bytes);
    std::memcpy(bytes_.data() + at, value, bytes);
  }
  template <class T>
  void add(const T& value) {
    add(&value, sizeof value);
  }
  std::vector<void*> pointers() {
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
