#include "src/runtime/late_releases.h"

#include <utility>

namespace gpulua {

void LateReleases::add(std::unique_ptr<Object> object) noexcept {
  const std::lock_guard lock(lock_);
  if (closed_) {
    object.reset();
    return;
  }
  object->next_ = objects_;
  objects_ = object.release();
  any_.store(true, std::memory_order_relaxed);
}

void LateReleases::drop() noexcept {
  Object* object = nullptr;
  {
    const std::lock_guard lock(lock_);
    std::swap(object, objects_);
    any_.store(false, std::memory_order_relaxed);
  }
  // Without the lock: a destructor may call back into the host program.
  while (object != nullptr) delete std::exchange(object, object->next_);
}

void LateReleases::close() noexcept {
  drop();
  const std::lock_guard lock(lock_);
  closed_ = true;
  while (objects_ != nullptr) delete std::exchange(objects_, objects_->next_);
}

}  // namespace gpulua
