#pragma once

#include <cstddef>

#include "src/array/array.h"

namespace gpulua {

/// Gives the pending nodes that read the buffer a copy of what they read there: the host program is about to get the
/// chance to write it. A node for whose copy there is no room raises that whenever it is read. Nothing happens while a
/// graph records, whose work reads the memory when it runs.
void detach_readers(Buffer& buffer);
/// The same for all memory of the device that the host program can write.
void detach_readers(OpenDevice& device);
/// An upper bound of the bytes that this copies.
std::size_t bytes_to_detach(const OpenDevice& device);

}  // namespace gpulua
