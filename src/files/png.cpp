#include "src/files/png.h"
#include "src/expressions/transfer.h"

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <memory>
#include <utility>

#include "src/files/host_file.h"
#include "src/files/inflated.h"
#include "src/files/png_library.h"

namespace gpulua {

namespace {

/// A libpng reader. libpng's errors are longjmps to `jump_`, over frames without destructors.
class PngReader {
 public:
  PngReader(std::span<const char> bytes, const std::string& file) : left_(bytes), file_(file) {
    png_ = libpng().create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
    if (png_) info_ = libpng().create_info_struct(png_);
    if (!info_) {
      libpng().destroy_read_struct(&png_, nullptr, nullptr);
      throw std::bad_alloc();
    }
    libpng().set_read_fn(png_, this, on_read);
  }
  ~PngReader() { libpng().destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  Array read(OpenDevice& device) {
    constexpr unsigned char signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    const std::size_t seen = std::min(left_.size(), sizeof signature);
    if (seen == 0 || std::memcmp(left_.data(), signature, seen) != 0) fail("not a PNG file");
    const std::size_t size = left_.size();
    if (!read_info()) fail(message_);
    // Rejects pixels that the file cannot hold, before the allocation. In the file each row has one byte more than its
    // pixels.
    const std::uint64_t height = libpng().get_image_height(png_, info_);
    if (row_in_file_ + 1 > most_inflated(size) / height) fail("it cannot hold the pixels that it promises");
    Dims shape{static_cast<std::int64_t>(height), static_cast<std::int64_t>(libpng().get_image_width(png_, info_))};
    if (const int channels = libpng().get_channels(png_, info_); channels > 1) shape.push_back(channels);
    // The device memory, which has a limit, is allocated before the host memory. Host pages of rows that a damaged file
    // lacks are never touched.
    Array array =
        empty(device, std::move(shape), libpng().get_bit_depth(png_, info_) == 16 ? DType::uint16 : DType::uint8);
    const auto samples = std::make_unique_for_overwrite<png_byte[]>(array->nbytes());
    if (!read_rows(samples.get(), array->nbytes() / height, height)) fail(message_);
    upload(*array, samples.get());
    return array;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw Error("[image.load] {}: {}", file_, what); }

  bool read_info() {
    if (setjmp(jump_)) return false;
    libpng().read_info(png_, info_);
    row_in_file_ = libpng().get_rowbytes(png_, info_);
    libpng().set_expand(png_);
    libpng().set_swap(png_);
    passes_ = libpng().set_interlace_handling(png_);
    libpng().read_update_info(png_, info_);
    return true;
  }

  bool read_rows(png_bytep samples, std::size_t row, std::uint64_t height) {
    if (setjmp(jump_)) return false;
    for (int pass = 0; pass < passes_; ++pass)
      for (std::uint64_t i = 0; i < height; ++i) libpng().read_row(png_, samples + i * row, nullptr);
    libpng().read_end(png_, nullptr);
    return true;
  }

  [[noreturn]] static void on_error(png_structp png, png_const_charp message) {
    auto& self = *static_cast<PngReader*>(libpng().get_error_ptr(png));
    std::strncpy(self.message_, message, sizeof self.message_ - 1);
    std::longjmp(self.jump_, 1);
  }
  static void on_warning(png_structp, png_const_charp) {}

  static void on_read(png_structp png, png_bytep to, std::size_t count) {
    auto& self = *static_cast<PngReader*>(libpng().get_io_ptr(png));
    if (count > self.left_.size()) libpng().error(png, "the file ends in the picture");
    std::memcpy(to, self.left_.data(), count);
    self.left_ = self.left_.subspan(count);
  }

  std::span<const char> left_;
  const std::string& file_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::size_t row_in_file_ = 0;  // bytes of a row's pixels, before they are expanded
  int passes_ = 1;
  std::jmp_buf jump_;
  char message_[128] = "";
};

}  // namespace

Array read_png(std::span<const char> bytes, OpenDevice& device, const std::string& file) {
  return PngReader(bytes, file).read(device);
}

void save_png(const std::string& path, const Picture& picture) {
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  image.height = static_cast<png_uint_32>(picture.height);
  image.width = static_cast<png_uint_32>(picture.width);
  image.format = picture.channels == 4 ? PNG_FORMAT_RGBA : picture.channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  NewFile file("image.save", path);
  const bool written = libpng().image_write_to_stdio(&image, file.stream(), 0, picture.samples.data(), 0, nullptr) != 0;
  libpng().image_free(&image);
  if (!written) throw Error(ErrorKind::file, "[image.save] cannot write {}: {}", path, image.message);
  file.commit();
}

}  // namespace gpulua
