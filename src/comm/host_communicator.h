#pragma once

#include <memory>

#include "src/comm/transport.h"
#include "src/device/device.h"

namespace gpulua {

/// Moves the elements of the device's memory by the transport: through the memory of the host, where they are not there
/// already. For one rank there is nothing to move: its copies stay on the device.
std::shared_ptr<Communicator> make_host_communicator(std::shared_ptr<Transport> transport, Device& device);

}  // namespace gpulua
