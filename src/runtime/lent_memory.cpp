#include "src/runtime/lent_memory.h"

#include <algorithm>
#include <utility>

#include "src/runtime/open_device.h"

namespace gpulua {

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
