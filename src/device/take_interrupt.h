#pragma once

#include <atomic>
#include <string>

#include "src/base/error.h"

namespace gpulua {

/// Throws the error of an interrupted call of `op` if the flag is set, and clears it.
inline void take_interrupt(std::atomic<bool>& interrupted, const char* op) {
  if (interrupted.load(std::memory_order_relaxed) && interrupted.exchange(false))
    throw Error(ErrorKind::interrupted, "[{}] interrupted", op);
}

}  // namespace gpulua
