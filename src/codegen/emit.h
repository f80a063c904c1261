#pragma once

// The emitter: CUDA C++, for both devices.

#include <string>

#include "src/codegen/kernel_spec.h"

namespace gpulua {

/// The kernel that `spec` describes, called spec.name(). Its parameters are:
///   elementwise: the extent of the innermost axis, with `rows` the blocks for one row of it, else the number of
///     elements; then the extents of the other axes.
///   elementwise with tiles: the extent of the innermost axis, the tiles along it, the extent of the axis before it;
///   then
///     the extents of the other axes and the tiles along that one.
///   reduction: the number of results, of elements for each, and of elements for one block; the blocks for one result;
///     then the extents of the results' axes and of the reduced ones; with several blocks, scratch memory for what they
///     accumulate and a counter for each row of blocks, 0 at first.
///   compressing: the number of elements, the extents of their axes, and the memory that the blocks share
///     (gpulua_compress_state).
///   all: for each operand and then each output its address (or value), and its strides where the access has any.
std::string emit(const KernelSpec& spec);

/// The same without the device code that every kernel may use: what of it is the kernel's own.
std::string emit_body(const KernelSpec& spec);

}  // namespace gpulua
