#pragma once

#include "src/base/origin.h"

namespace gpulua {

/// Callbacks into the owner of the array handles: the Lua bindings, or an embedding program.
class Host {
 public:
  virtual ~Host() = default;
  /// Releases the handles that are no longer reachable.
  virtual void collect() = 0;
  /// The script's line that called the library.
  virtual Origin origin() = 0;
};

}  // namespace gpulua
