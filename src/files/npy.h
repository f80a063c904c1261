#pragma once

#include <memory>
#include <span>
#include <string>

#include "src/array/array.h"
#include "src/files/npy_header.h"

namespace gpulua {

/// The array of a .npy file's bytes; one in Fortran order is a transposed view. `file` names it in errors.
Array read_npy(std::span<const char> bytes, OpenDevice& device, const std::string& file);

/// The array of a .npy file whose elements are still to be read. It has its memory on the device, which may have no
/// room, before the host needs some for the elements.
class NpyArray {
 public:
  /// `head` and `size`: as of parse_npy_header.
  NpyArray(std::span<const char> head, std::size_t size, OpenDevice& device, const std::string& file);

  /// Where in the file the elements start, and their bytes.
  std::size_t begin() const { return header_.size; }
  std::size_t nbytes() const { return array_->nbytes(); }
  /// The array with these elements.
  Array fill(std::span<const char> elements) const;

 private:
  NpyHeader header_;
  Array array_;
};

/// The elements as the file has them: row-major, little-endian.
struct HostElements {
  explicit HostElements(Node& array);
  std::span<const char> bytes() const { return {data.get(), size}; }

  std::size_t size;
  std::unique_ptr<char[]> data;
};

void save_npy(const std::string& path, Node& array);

}  // namespace gpulua
