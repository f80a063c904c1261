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

std::vector<BufferRef> ExposedMemory::read() const {
  std::vector<BufferRef> found;
  for (const auto& [address, buffer] : buffers_)
    if (buffer->pending_reads() > 0) found.emplace_back(buffer);
  return found;
}

std::vector<BufferRef> ExposedMemory::read_and_shared() const {
  std::vector<BufferRef> found = read();
  std::erase_if(found, [](const BufferRef& buffer) { return buffer->shared() == nullptr; });
  return found;
}

BufferRef ExposedMemory::find(const SharedPlace& place) const {
  for (const auto& [address, buffer] : buffers_)
    if (buffer->shared() && buffer->shared()->place() == place) return BufferRef(buffer);
  return {};
}

bool ExposedMemory::any_shared() const {
  return std::ranges::any_of(buffers_, [](const auto& entry) { return entry.second->shared() != nullptr; });
}

std::vector<BufferRef> ExposedMemory::find(const void* memory) const {
  std::vector<BufferRef> found;
  for (auto [next, end] = buffers_.equal_range(memory); next != end; ++next) found.emplace_back(next->second);
  return found;
}

}  // namespace gpulua
