#pragma once

// The header of NumPy's .npy format, versions 1.0 to 3.0, as numpy.lib.format documents it.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "src/core/dtype.h"
#include "src/core/layout.h"

namespace gpulua {

struct NpyHeader {
  DType dtype = DType::float32;
  bool big_endian = false;
  bool fortran_order = false;
  Dims shape;
  std::size_t size = 0;  // bytes before the elements
};

bool is_npy(std::span<const char> bytes);

/// Throws Error, which names the file, for a header that is damaged, for elements that no dtype of ours is, and for
/// more elements than `bytes` holds.
NpyHeader parse_npy_header(std::span<const char> bytes, const std::string& file);

/// The bytes that NumPy writes for a row-major array. Throws Error for a dtype that NumPy does not have.
std::string npy_header(DType dtype, const Dims& shape);

}  // namespace gpulua
