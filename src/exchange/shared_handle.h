#pragma once

// The text by which a process finds an array of another one.

#include <cstddef>
#include <string>
#include <string_view>

#include "src/array/layout.h"
#include "src/base/dtype.h"
#include "src/base/process_identity.h"
#include "src/device/shared_memory.h"

namespace gpulua {

struct SharedHandle {
  ProcessIdentity process;  // that has the memory
  std::string device;       // by its name there
  std::string hardware;     // Device::hardware_id
  DType dtype = DType::float32;
  Layout layout;
  std::size_t bytes = 0;  // of the block; 0: an array without elements, which needs none
  SharedPlace place;      // of the block
};

/// Letters, digits and "/:.,-" alone. It ends with a part of its own digest.
std::string to_text(const SharedHandle& handle);
/// Throws Error for another text, such as one that was damaged on its way.
SharedHandle parse_shared_handle(std::string_view text);

}  // namespace gpulua
