#pragma once

#include <string>

#include "src/array/node.h"

namespace gpulua {

/// So many bytes of memory of the device, on its current stream.
BufferRef new_buffer(OpenDevice& device, std::size_t bytes);

/// Uninitialised, row-major.
Array empty(OpenDevice& device, Dims shape, DType dtype);
Array full(OpenDevice& device, Dims shape, DType dtype, const Scalar& value);
/// first + step * i, where i is the row-major position. For integers both are integral and the arithmetic is exact.
Array range(OpenDevice& device, Dims shape, DType dtype, double first, double step);
/// `count` values from `first` to `last`, both exact.
Array linspace(OpenDevice& device, std::int64_t count, DType dtype, double first, double last);
Array view(const Array& array, Layout layout);

/// Row-major copy on the same device.
Array copy(const Array& array);
Array astype(const Array& array, DType dtype);
/// The array itself if it is row-major already, else a copy.
Array contiguous(const Array& array);
Array to_device(const Array& array, OpenDevice& device);

/// The elements for which `mask`, an array of bool, is true, in row-major order. `values` broadcasts to its shape.
/// Waits.
Array compress(const Array& mask, const Array& values);

/// Writes `from`, broadcast and converted to to's dtype, into `to`; the devices may differ, the two may overlap. Errors
/// name `op`.
void copy_into(const Array& to, const Array& from, const char* op = "copy_");
void fill(const Array& array, const Scalar& value);

/// For what reads elements without saying so: throws Error, which names what does say so, where the context is strict.
void check_not_strict(const Node& array, std::string_view op, std::string_view what, std::string_view instead);

/// Row-major bytes of the array, to host memory of nbytes(). Waits.
void download(const Node& array, void* host);
/// Row-major bytes into a row-major array. The host memory may be reused when the call returns.
void upload(const Node& array, const void* host);
/// As upload and download, of a row-major array both, but with pinned memory they do not wait: it is as it was, or has
/// the elements, once the stream is done.
void queue_upload(const Node& array, const void* host);
void queue_download(const Node& array, void* host);
/// The only element of an array of size 1. Waits.
Scalar item(const Node& array);

/// "float32[3x4]"; "float64[]" for a 0-d array.
std::string type_text(const Node& array);
/// "float32[1000x1000] cuda:0" and the elements, of large arrays the corners, in lines of at most `width` characters.
/// Copies only what it shows.
std::string format(const Node& array, std::size_t width);

}  // namespace gpulua
