#pragma once

#include "src/comm/transport.h"

namespace gpulua {

/// A transport over TCP: each pair of ranks is connected. It needs no library.
std::shared_ptr<Transport> connect_sockets(const Job& job, std::function<void()> while_waiting);

}  // namespace gpulua
