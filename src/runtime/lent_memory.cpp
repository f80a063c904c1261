#include "src/runtime/lent_memory.h"

#include <algorithm>
#include <utility>

#include "src/runtime/open_device.h"

namespace gpulua {

void LentMemory::give_back(std::shared_ptr<void> owner, StreamRef writer, std::vector<StreamRef> readers) noexcept {
  Returned returned{std::move(owner), std::move(writer), std::move(readers)};
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
      returned.for_each_stream([&](Stream& stream) {
        returned.ends.push_back(device.create_event());
        device.record(*returned.ends.back(), stream);
      });
    }
    return std::ranges::all_of(returned.ends, [&](const EventRef& end) { return device.done(*end); });
  } catch (...) {
    wait_for(returned);
    return true;
  }
}

void LentMemory::wait_for(const Returned& returned) noexcept {
  try {
    returned.for_each_stream([&](Stream& stream) { device_.wait_for(stream); });
  } catch (...) {  // the work has failed, or the device is lost: the memory is not used any more
  }
}

void LentMemory::let_go_done() noexcept {
  // The release of an owner may lend memory again, or give some back.
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
