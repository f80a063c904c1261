#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/array/array.h"
#include "src/files/date_text.h"

namespace gpulua {

/// `dates`: the array is a column of dates or durations, which .npz files alone have.
struct NamedArray {
  std::string name;
  Array array;
  std::optional<DateKind> dates = std::nullopt;
};
using NamedArrays = std::vector<NamedArray>;

/// True when the bytes start with the magic number of a zip archive.
bool is_npz(std::span<const char> bytes);

/// Reads the arrays from the bytes of a .npz file, a zip archive of .npy files. `file`: the name in errors.
NamedArrays read_npz(std::span<const char> bytes, OpenDevice& device, const std::string& file);

/// Writes the arrays to a .npz file. `compress`: deflates the members. The host memory holds one array at a time.
/// Throws Error of kind `file` for a failed write.
void save_npz(const std::string& path, const NamedArrays& arrays, bool compress);

}  // namespace gpulua
