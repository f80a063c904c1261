#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/array/array.h"

namespace gpulua {

using NamedArrays = std::vector<std::pair<std::string, Array>>;

bool is_npz(std::span<const char> bytes);

/// The arrays of a .npz file's bytes, a zip archive of .npy files. `file` names it in errors.
NamedArrays read_npz(std::span<const char> bytes, OpenDevice& device, const std::string& file);

/// One array is in the host's memory at a time.
void save_npz(const std::string& path, const NamedArrays& arrays, bool compress);

}  // namespace gpulua
