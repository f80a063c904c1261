#pragma once

#include <memory>
#include <optional>

#include "src/array/array.h"

namespace gpulua {

/// The host program's memory as an array is to have it.
struct MemoryToLend {
  void* first = nullptr;  // the first element, at index (1, ..., 1)
  DType dtype = DType::float32;
  Dims shape;
  std::optional<Dims> strides = {};  // in elements; nothing: row-major
  bool read_only = false;
  bool is_mapped = false;            // the device has given the address itself, so that it can reach it
  std::shared_ptr<void> owner = {};  // let go when the last work that uses the memory is done
};

/// An array over that memory: no copy. Work on the device's current stream follows what that stream has been given so
/// far. Throws Error, with `op` in brackets, for an address that the device cannot reach or that is not a multiple of
/// the element's size.
Array lend(OpenDevice& device, MemoryToLend memory, const char* op);

/// Strides in bytes as strides in elements.
Dims strides_of_bytes(const Dims& bytes, DType dtype, const char* op);

}  // namespace gpulua
