#include "bindings/scope.h"

#include <algorithm>

namespace gpulua {

void Scope::add(const BufferRef& buffer) {
  if (buffer->serial() <= start_) return;
  buffers_.insert_or_assign(buffer.get(), buffer);
  if (buffers_.size() < sweep_at_) return;
  // A loop leaves many that were collected since; a weak reference keeps their blocks.
  std::erase_if(buffers_, [](const auto& entry) { return entry.second.expired(); });
  sweep_at_ = std::max(sweep_at_, buffers_.size() * 2);
}

std::vector<BufferRef> Scope::live() const {
  std::vector<BufferRef> result;
  for (const auto& entry : buffers_)
    if (BufferRef buffer = entry.second.lock()) result.push_back(std::move(buffer));
  return result;
}

}  // namespace gpulua
