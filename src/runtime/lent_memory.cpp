#include "src/runtime/lent_memory.h"

#include <algorithm>
#include <utility>

#include "src/runtime/buffer.h"

namespace gpulua {

std::vector<std::shared_ptr<Buffer>> LentMemory::find(const void* memory) const {
  std::vector<std::shared_ptr<Buffer>> found;
  for (auto [next, end] = buffers_.equal_range(memory); next != end; ++next)
    found.push_back(next->second->shared_from_this());
  return found;
}

void LentMemory::add(Buffer& buffer) {
  buffers_.emplace(buffer.address(), &buffer);
}

void LentMemory::remove(Buffer& buffer) noexcept {
  auto [next, end] = buffers_.equal_range(buffer.address());
  const auto found = std::find_if(next, end, [&](const auto& entry) { return entry.second == &buffer; });
  if (found != end) buffers_.erase(found);
}

void LentMemory::give_back(std::shared_ptr<void> owner, std::vector<StreamRef> users) noexcept {
  Returned returned{std::move(owner), std::move(users)};
  if (is_done(returned)) return;
  try {
    returned_.push_back(std::move(returned));
  } catch (...) {  // no memory for the list: the wait is done here
    wait_for(returned);
  }
}

bool LentMemory::is_done(Returned& returned) noexcept {
  Device& device = device_.device();
  try {
    if (returned.ends.empty()) {
      if (device_.captures()) return false;  // a stream that records a graph has no events
      for (const StreamRef& stream : returned.users) {
        returned.ends.push_back(device.create_event());
        device.record(*returned.ends.back(), *stream);
      }
    }
    return std::ranges::all_of(returned.ends, [&](const EventRef& end) { return device.done(*end); });
  } catch (...) {
    wait_for(returned);
    return true;
  }
}

void LentMemory::wait_for(const Returned& returned) noexcept {
  try {
    for (const StreamRef& stream : returned.users) device_.device().synchronize(*stream);
  } catch (...) {  // the work has failed, or the device is lost: the memory is not used any more
  }
}

void LentMemory::let_go_done() noexcept {
  // An owner's end may lend memory again, or give some back.
  while (!returned_.empty() && is_done(returned_.front())) {
    const Returned done = std::move(returned_.front());
    returned_.pop_front();
  }
}

void LentMemory::wait() noexcept {
  while (!returned_.empty()) {
    const Returned returned = std::move(returned_.front());
    returned_.pop_front();
    wait_for(returned);
  }
}

}  // namespace gpulua
