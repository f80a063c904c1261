#include "src/files/npy.h"
#include "src/expressions/transfer.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "src/files/host_file.h"

namespace gpulua {

static_assert(std::endian::native == std::endian::little);

namespace {

/// The size in bytes of the words that byte order applies to: a complex number has two.
std::size_t word_size(DType dtype) {
  return info(dtype).kind == DTypeKind::complex ? size_of(dtype) / 2 : size_of(dtype);
}

bool is_plain(std::span<const char> elements, const NpyHeader& header) {
  if (header.dtype == DType::boolean)
    return std::all_of(elements.begin(), elements.end(), [](char byte) { return byte == 0 || byte == 1; });
  return !header.big_endian || word_size(header.dtype) == 1;
}

/// Converts the elements to the format of devices: little-endian, and 1 for true.
std::unique_ptr<char[]> make_plain(std::span<const char> elements, DType dtype) {
  auto plain = std::make_unique_for_overwrite<char[]>(elements.size());
  const std::size_t word = word_size(dtype);
  if (dtype == DType::boolean)
    std::transform(elements.begin(), elements.end(), plain.get(), [](char byte) { return byte != 0; });
  else
    for (std::size_t at = 0; at < elements.size(); at += word)
      std::reverse_copy(elements.data() + at, elements.data() + at + word, plain.get() + at);
  return plain;
}

}  // namespace

NpyArray::NpyArray(std::span<const char> head, std::size_t size, OpenDevice& device, const std::string& file)
    : header_(parse_npy_header(head, size, file)) {
  if (header_.fortran_order) std::reverse(header_.shape.begin(), header_.shape.end());
  array_ = empty(device, header_.shape, header_.dtype);
}

Array NpyArray::fill(std::span<const char> elements) const {
  if (is_plain(elements, header_))
    upload(*array_, elements.data());
  else
    upload(*array_, make_plain(elements, header_.dtype).get());
  return header_.fortran_order ? view(array_, transpose(array_->layout)) : array_;
}

Array read_npy(std::span<const char> bytes, OpenDevice& device, const std::string& file) {
  const NpyArray array(bytes, bytes.size(), device, file);
  return array.fill(bytes.subspan(array.begin(), array.nbytes()));
}

HostElements::HostElements(Node& array) : size(array.nbytes()), data(std::make_unique_for_overwrite<char[]>(size)) {
  download(array, data.get());
}

void save_npy(const std::string& path, Node& array) {
  const std::string header = npy_header(array.dtype, array.layout.shape);
  const HostElements elements(array);
  NewFile file("save", path);
  file.write(header);
  file.write(elements.bytes());
  file.commit();
}

}  // namespace gpulua
