#pragma once

// Arrays that several processes of a machine use: the same memory, without a copy.

#include <string>
#include <string_view>

#include "src/array/array.h"

namespace gpulua {

class Context;

/// A text from which from_ipc() makes the array in another process. Evaluates the array and waits for its elements. The
/// first time, its buffer moves to memory that other processes can open.
std::string ipc_handle(const Array& array);

/// The array of that text, of this process or another one. `read_only`: a write of it throws Error.
Array from_ipc(Context& context, std::string_view text, bool read_only);

/// Does what is pending on memory that other processes use, and waits for the device, where there is such memory.
void finish_shared_work(Context& context);

}  // namespace gpulua
