#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "src/core/buffer.h"

namespace gpulua {

/// The buffers that were made while a gpu.scope runs.
class Scope {
 public:
  /// `start` is the serial number of the last buffer made before.
  explicit Scope(std::uint64_t start) : start_(start) {}

  /// Notes the buffer of an array that reaches the script; one made before the scope, which a view has, does not belong
  /// to it.
  void add(const BufferRef& buffer);
  std::vector<BufferRef> live() const;

 private:
  std::uint64_t start_;
  std::unordered_map<const Buffer*, std::weak_ptr<Buffer>> buffers_;
  std::size_t sweep_at_ = 1024;
};

}  // namespace gpulua
