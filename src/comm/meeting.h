#pragma once

#include <functional>
#include <vector>

#include "src/base/job.h"
#include "src/comm/socket.h"

namespace gpulua {

/// The two connections with another rank: elements move on one, control messages on the other.
struct PeerSockets {
  Socket data, control;
};

/// Connects each pair of ranks. Rank 0 waits for all others at the launch's address, and tells each where the others
/// listen. The result has an entry for each rank; this rank's own is empty. Throws Error that names who is missing.
std::vector<PeerSockets> meet(const Job& job, const std::function<void()>& while_waiting);

}  // namespace gpulua
