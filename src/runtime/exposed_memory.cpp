#include "src/runtime/exposed_memory.h"

#include <algorithm>

#include "src/runtime/buffer.h"

namespace gpulua {

void ExposedMemory::add(Buffer& buffer) {
  buffers_.emplace(buffer.address(), &buffer);
  reads_ += buffer.pending_reads();
}

void ExposedMemory::remove(Buffer& buffer) noexcept {
  auto [next, end] = buffers_.equal_range(buffer.address());
  const auto found = std::find_if(next, end, [&](const auto& entry) { return entry.second == &buffer; });
  if (found == end) return;
  buffers_.erase(found);
  reads_ -= buffer.pending_reads();
}

std::vector<std::shared_ptr<Buffer>> ExposedMemory::read() const {
  std::vector<std::shared_ptr<Buffer>> found;
  for (const auto& [address, buffer] : buffers_)
    if (buffer->pending_reads() > 0) found.push_back(buffer->shared_from_this());
  return found;
}

std::vector<std::shared_ptr<Buffer>> ExposedMemory::find(const void* memory) const {
  std::vector<std::shared_ptr<Buffer>> found;
  for (auto [next, end] = buffers_.equal_range(memory); next != end; ++next)
    found.push_back(next->second->shared_from_this());
  return found;
}

}  // namespace gpulua
