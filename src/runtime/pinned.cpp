#include "src/runtime/pinned.h"

#include <algorithm>
#include <cstring>

#include "src/base/error.h"
#include "src/runtime/context.h"

namespace gpulua {

PinnedMemory::PinnedMemory(std::shared_ptr<OpenDevice> device, std::size_t bytes)
    : device_(std::move(device)), data_(device_->device().allocate_pinned(bytes)), bytes_(bytes) {
  if (!data_)
    throw Error(ErrorKind::memory, "[pinned] out of host memory for {} of pinned memory", format_bytes(bytes));
  std::memset(data_, 0, bytes);
  device_->pinned_[data_] = this;
}

PinnedMemory::~PinnedMemory() {
  for (const StreamRef& stream : users_) {
    try {
      device_->wait_for(*stream);
    } catch (const std::exception&) {
      // The stream's work failed, so it copies no more. The next wait for the stream reports the failure.
    }
  }
  device_->pinned_.erase(data_);
  device_->device().free_pinned(data_);
}

void PinnedMemory::used_by(const StreamRef& stream) {
  if (std::find(users_.begin(), users_.end(), stream) == users_.end()) users_.push_back(stream);
}

}  // namespace gpulua
