#pragma once

#include <memory>
#include <span>
#include <string>

#include "src/core/array.h"
#include "src/files/npy_header.h"

namespace gpulua {

/// The array of a .npy file's bytes; one in Fortran order is a transposed view. `file` names it in errors.
Array read_npy(std::span<const char> bytes, OpenDevice& device, const std::string& file);

/// The elements as the file has them: row-major, little-endian.
struct HostElements {
  explicit HostElements(const Node& array);
  std::span<const char> bytes() const { return {data.get(), size}; }

  std::size_t size;
  std::unique_ptr<char[]> data;
};

void save_npy(const std::string& path, const Node& array);

}  // namespace gpulua
