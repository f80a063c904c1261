#include "bindings/lua/scope.h"

#include <algorithm>

namespace gpulua {

void Scope::add(const Array& array) {
  if (array->serial() <= start_) return;
  arrays_.insert_or_assign(array.get(), array->watch());
  if (arrays_.size() < sweep_at_) return;
  // Removes arrays that were collected since.
  std::erase_if(arrays_, [](const auto& entry) { return !*entry.second; });
  sweep_at_ = std::max(sweep_at_, arrays_.size() * 2);
}

std::vector<BufferRef> Scope::live() const {
  std::vector<BufferRef> result;
  for (const auto& [address, watch] : arrays_) {
    Node* const node = *watch;
    if (!node || node->pending()) continue;
    const BufferRef& buffer = node->buffer();
    if (buffer->serial() > start_ && !kept_.contains(buffer->serial())) result.push_back(buffer);
  }
  return result;
}

}  // namespace gpulua
