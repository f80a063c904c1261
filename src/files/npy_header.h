#pragma once

// The header of NumPy's .npy format, versions 1.0 to 3.0, as numpy.lib.format documents it.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "src/array/layout.h"
#include "src/base/dtype.h"
#include "src/files/date_text.h"

namespace gpulua {

struct NpyHeader {
  DType dtype = DType::float32;
  bool big_endian = false;
  bool fortran_order = false;
  Dims shape;
  std::size_t size = 0;  // bytes before the elements
  /// Of dates and durations, whose elements are int64; each of them is a number of steps of the unit.
  std::optional<DateKind> dates;
  std::int64_t step = 1;
};

/// True when the bytes start with the format's magic number.
bool is_npy(std::span<const char> bytes);

/// The longest header, in bytes, of an array that gpulua can read. Only headers of structured types can be longer.
inline constexpr std::size_t longest_npy_header = 1 << 16;

/// Parses the header of a file of `size` bytes. `head`: the first bytes of the file, with the whole header. Throws
/// Error, which names the file, for a damaged header, for an element type that is neither a DType nor
/// dates or durations of a length of time, and for more elements
/// than the file holds.
NpyHeader parse_npy_header(std::span<const char> head, std::size_t size, const std::string& file);

/// The header that NumPy writes for a row-major array, which may be of dates. Throws Error for a dtype that NumPy does
/// not have.
std::string npy_header(DType dtype, const Dims& shape, const std::optional<DateKind>& dates);

}  // namespace gpulua
