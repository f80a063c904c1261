#pragma once

// Arrays in memory, and views of them.

#include <string>
#include <string_view>

#include "src/array/node.h"

namespace gpulua {

/// Memory of the device for `bytes` bytes, allocated on its current stream.
BufferRef new_buffer(OpenDevice& device, std::size_t bytes);

/// A row-major array. Its elements are not initialised.
Array empty(OpenDevice& device, Dims shape, DType dtype);

/// An array with the elements of `array` at the positions of `layout`, which lies in the array's buffer. The two share
/// the buffer. Evaluates a pending array.
Array view(const Array& array, Layout layout);

/// Throws the Error that the operation has no derivative. `of`: the part of it that has none, as " for its operand 1".
[[noreturn]] void refuse_derivative(std::string_view op, std::string_view of = "");
/// Throws Error when the context's observer follows the array: what `op` does with the address of its elements is not
/// known.
void check_not_followed(Node& array, std::string_view op);

/// "float32[3x4]"; "float64[]" for a 0-d array.
std::string type_text(const Node& array);

}  // namespace gpulua
