#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "src/array/node.h"

namespace gpulua {

/// The arrays that are made during one gpu.scope.
class Scope {
 public:
  /// `start`: the newest serial number when the scope begins.
  explicit Scope(std::uint64_t start) : start_(start) {}

  /// Records an array that is passed to the script.
  void add(const Array& array);
  /// Leaves the buffer out of live().
  void keep(const Buffer& buffer) { kept_.insert(buffer.serial()); }
  /// The buffers of the recorded arrays that still live. A view of an older array does not count.
  std::vector<BufferRef> live() const;

 private:
  std::uint64_t start_;
  std::unordered_map<Node*, std::shared_ptr<Node* const>> arrays_;  // null: the array is gone
  std::unordered_set<std::uint64_t> kept_;                          // serial numbers
  std::size_t sweep_at_ = 1024;
};

}  // namespace gpulua
