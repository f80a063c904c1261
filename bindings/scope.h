#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "src/array/node.h"

namespace gpulua {

/// The arrays that were made while a gpu.scope runs.
class Scope {
 public:
  /// `start` is the serial number of the last buffer made before.
  explicit Scope(std::uint64_t start) : start_(start) {}

  /// Notes an array that reaches the script.
  void add(const Array& array);
  /// The arrays that were made since the scope began; a view of an older one does not own it.
  std::vector<BufferRef> live() const;

 private:
  std::uint64_t start_;
  std::unordered_map<Node*, std::weak_ptr<Node>> arrays_;
  std::size_t sweep_at_ = 1024;
};

}  // namespace gpulua
