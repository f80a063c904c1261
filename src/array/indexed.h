#pragma once

// Positions that index arrays give.

#include <memory>
#include <vector>

#include "src/array/node.h"

namespace gpulua {

/// An axis along which an index array gives the position. Positions count from 1, negative ones from the end.
struct IndexedAxis {
  std::int64_t extent, stride;
  std::int64_t number;  // of the axis, from 1, for messages
};

/// Elements of an array at positions that index arrays give. `layout` has the shape of the elements read or written and
/// places each at position 1 of the indexed axes; its offset counts from the array's first element. The index arrays
/// broadcast to that shape and move on from there.
struct Indexed {
  Layout layout;
  std::vector<IndexedAxis> axes;
};

/// How a scatter writes: `store` replaces the element, `add` adds to it.
enum class Combine { store, add };

/// The elements of a target that a scatter writes.
struct Scatter {
  std::shared_ptr<const Indexed> at;
  std::vector<Array> indices;
  Combine combine = Combine::store;
  Origin origin;
};

}  // namespace gpulua
