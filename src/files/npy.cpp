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
  return (!header.big_endian || word_size(header.dtype) == 1) && header.step == 1;
}

/// Makes counts of units of counts of steps of `step` units.
void multiply(std::span<char> times, std::int64_t step, const std::string& file) {
  for (std::size_t at = 0; at < times.size(); at += sizeof(std::int64_t)) {
    std::int64_t count = 0;
    std::memcpy(&count, times.data() + at, sizeof count);
    if (count != missing_date && __builtin_mul_overflow(count, step, &count))
      throw Error("[load] {}: expected times in the range of 64 bits, got one beyond it", file);
    std::memcpy(times.data() + at, &count, sizeof count);
  }
}

/// Converts the elements to the format of devices: little-endian, 1 for true, and times in the column's unit.
std::unique_ptr<char[]> make_plain(std::span<const char> elements, const NpyHeader& header, const std::string& file) {
  auto plain = std::make_unique_for_overwrite<char[]>(elements.size());
  const std::size_t word = word_size(header.dtype);
  if (header.dtype == DType::boolean)
    std::transform(elements.begin(), elements.end(), plain.get(), [](char byte) { return byte != 0; });
  else if (!header.big_endian)
    std::ranges::copy(elements, plain.get());
  else
    for (std::size_t at = 0; at < elements.size(); at += word)
      std::reverse_copy(elements.data() + at, elements.data() + at + word, plain.get() + at);
  if (header.step != 1) multiply({plain.get(), elements.size()}, header.step, file);
  return plain;
}

}  // namespace

NpyArray::NpyArray(std::span<const char> head, std::size_t size, OpenDevice& device, const std::string& file)
    : header_(parse_npy_header(head, size, file)), file_(file) {
  if (header_.fortran_order) std::reverse(header_.shape.begin(), header_.shape.end());
  array_ = empty(device, header_.shape, header_.dtype);
}

FileArray NpyArray::fill(std::span<const char> elements) const {
  if (is_plain(elements, header_))
    upload(*array_, elements.data());
  else
    upload(*array_, make_plain(elements, header_, file_).get());
  return {header_.fortran_order ? view(array_, transpose(array_->layout)) : array_, header_.dates};
}

FileArray read_npy(std::span<const char> bytes, OpenDevice& device, const std::string& file) {
  const NpyArray array(bytes, bytes.size(), device, file);
  return array.fill(bytes.subspan(array.begin(), array.nbytes()));
}

HostElements::HostElements(Node& array) : size(array.nbytes()), data(std::make_unique_for_overwrite<char[]>(size)) {
  download(array, data.get());
}

void save_npy(const std::string& path, Node& array, const std::optional<DateKind>& dates) {
  const std::string header = npy_header(array.dtype, array.layout.shape, dates);
  const HostElements elements(array);
  NewFile file("save", path);
  file.write(header);
  file.write(elements.bytes());
  file.commit();
}

}  // namespace gpulua
