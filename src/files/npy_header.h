#pragma once

// The header of NumPy's .npy format, versions 1.0 to 3.0, as numpy.lib.format documents it.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "src/array/layout.h"
#include "src/base/dtype.h"

namespace gpulua {

struct NpyHeader {
  DType dtype = DType::float32;
  bool big_endian = false;
  bool fortran_order = false;
  Dims shape;
  std::size_t size = 0;  // bytes before the elements
};

bool is_npy(std::span<const char> bytes);

/// Bytes that hold the header of every array that we have: headers of structured types can be longer.
inline constexpr std::size_t longest_npy_header = 1 << 16;

/// Of a file of `size` bytes that starts with `head`, which holds the header. Throws Error, which names the file, for a
/// header that is damaged, for elements that no dtype of ours is, and for more elements than the file holds.
NpyHeader parse_npy_header(std::span<const char> head, std::size_t size, const std::string& file);

/// The bytes that NumPy writes for a row-major array. Throws Error for a dtype that NumPy does not have.
std::string npy_header(DType dtype, const Dims& shape);

}  // namespace gpulua
