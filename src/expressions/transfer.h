#pragma once

// Copies of elements: between arrays, and between arrays and host memory.

#include <string_view>

#include "src/array/array.h"

namespace gpulua {

/// A row-major copy on the same device.
Array copy(const Array& array);
/// A row-major copy with the elements converted to `dtype`.
Array astype(const Array& array, DType dtype);
/// Returns the array itself if it is row-major, else a copy.
Array contiguous(const Array& array);
/// Returns the array itself if it is on that device, else a copy there.
Array to_device(const Array& array, OpenDevice& device);

/// Writes `from`, broadcast and converted, into `to`. The arrays may be on different devices and may overlap. `op`: the
/// name in errors.
void copy_into(const Array& to, const Array& from, const char* op = "copy_");
/// Writes the number to all elements.
void fill(const Array& array, const Scalar& value);

/// Guards implicit reads: in strict mode throws an Error that names the explicit alternative, `instead`.
void check_not_strict(const Node& array, std::string_view op, std::string_view what, std::string_view instead);

/// Copies the elements, in row-major order, to host memory of nbytes(). Waits.
void download(Node& array, void* host);
/// Copies elements into a row-major array. The host memory may be reused when the call returns.
void upload(Node& array, const void* host);
/// Upload and download of a row-major array that do not wait when the host memory is pinned: the copy ends with the
/// work of the array device's current stream.
void queue_upload(Node& array, const void* host);
void queue_download(Node& array, void* host);
/// The element of an array of size 1. Waits. Throws Error for another size.
Scalar item(Node& array);

}  // namespace gpulua
