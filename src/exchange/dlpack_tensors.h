#pragma once

// Arrays as DLPack's tensors, and tensors as arrays, without copies.

#include <optional>

#include "src/array/array.h"
#include "src/exchange/dlpack.h"

namespace gpulua {

class Context;

/// A stream of the host program's, by the driver's handle.
using NativeStream = std::optional<void*>;

/// Evaluates the array and makes the program's stream wait for its elements; nothing: no stream waits. The address of
/// the first element. On a device without streams of a driver the elements are there.
void* hand_over(Node& array, NativeStream reader);
/// Makes the device's current stream wait for what the program's stream has been given so far.
void wait_for(OpenDevice& device, NativeStream writer);

/// A tensor over the array's elements, for a consumer that reads them on the stream. Its deleter may be called on any
/// thread, and after the script has ended: the tensor keeps the elements and their device.
dlpack::Managed* to_dlpack(const Array& array, NativeStream reader);
dlpack::LegacyManaged* to_dlpack_legacy(const Array& array, NativeStream reader);

/// An array over the tensor's elements, on the tensor's device. Takes the tensor over, and calls its deleter when the
/// last work that uses the elements is done; at once when it throws Error. A tensor that to_dlpack has made of an array
/// of this context is that array's memory again. What looks like the struct of the other form stays the caller's, as
/// its deleter is somewhere else.
Array from_dlpack(Context& context, dlpack::Managed* tensor, NativeStream writer);
Array from_dlpack_legacy(Context& context, dlpack::LegacyManaged* tensor, NativeStream writer);

/// Calls the deleter of a tensor that no array takes over. Throws Error where the struct looks like the other form.
void drop(dlpack::Managed* tensor);
void drop(dlpack::LegacyManaged* tensor);

}  // namespace gpulua
