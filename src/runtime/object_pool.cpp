#include "src/runtime/object_pool.h"

#include "src/runtime/open_device.h"

namespace gpulua {

void ObjectPool::hold(OpenDevice& device) {
  device_ = device.shared_from_this();
}

}  // namespace gpulua
