#pragma once

#include <memory>
#include <span>
#include <string>

#include "src/array/array.h"
#include "src/files/npy_header.h"

namespace gpulua {

/// An array of a file; `dates`: it is a column of dates or durations.
struct FileArray {
  Array array;
  std::optional<DateKind> dates;
};

/// Reads the bytes of a .npy file into an array. A file in Fortran order becomes a transposed view. `file`: the name in
/// errors.
FileArray read_npy(std::span<const char> bytes, OpenDevice& device, const std::string& file);

/// The array of a .npy file before its elements are read. The constructor allocates the device memory, which can fail,
/// before the host allocates memory for the elements.
class NpyArray {
 public:
  /// `head` and `size`: see parse_npy_header.
  NpyArray(std::span<const char> head, std::size_t size, OpenDevice& device, const std::string& file);

  /// The offset of the elements in the file, and their size, in bytes.
  std::size_t begin() const { return header_.size; }
  std::size_t nbytes() const { return array_->nbytes(); }
  /// Copies the elements to the device and returns the array.
  FileArray fill(std::span<const char> elements) const;

 private:
  NpyHeader header_;
  Array array_;
  std::string file_;
};

/// An array's elements in the format of the file: row-major, little-endian.
struct HostElements {
  explicit HostElements(Node& array);
  std::span<const char> bytes() const { return {data.get(), size}; }

  std::size_t size;
  std::unique_ptr<char[]> data;
};

/// Writes the array to a .npy file; `dates`: as times. Throws Error for a dtype that NumPy does not have, and of kind
/// `file` for a failed write.
void save_npy(const std::string& path, Node& array, const std::optional<DateKind>& dates);

}  // namespace gpulua
