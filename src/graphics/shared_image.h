#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "src/array/array.h"
#include "src/device/textures.h"
#include "src/graphics/gl_contexts.h"
#include "src/graphics/pixel_transfer.h"

namespace gpulua {

/// A texture (GL_TEXTURE_2D) or a renderbuffer of the program's, for copies from and to arrays, and for kernels while
/// it is mapped. Rows are OpenGL's, the lowest first. A device in host memory works on a copy, which goes back at the
/// end.
class SharedImage {
 public:
  /// Registers an image of the current context.
  SharedImage(GlContexts& contexts, OpenDevice& device, GlImage image, const char* op);
  ~SharedImage() { release(); }
  SharedImage(const SharedImage&) = delete;
  SharedImage& operator=(const SharedImage&) = delete;

  std::uint32_t id() const { return image_.id; }
  const ImageShape& shape() const { return shape_; }
  /// (height, width), or (height, width, channels).
  Dims dims() const;
  OpenDevice& device() const { return *device_; }
  bool is_mapped() const { return mapped_.has_value(); }
  bool is_released() const { return image_.id == 0; }

  Array read(const char* op);
  /// `elements`: row-major, of this shape and dtype on this device.
  void write(const Array& elements, const char* op);
  /// The elements for kernels, until unmap().
  std::shared_ptr<Image> map(const char* op);
  const StreamRef& stream() const { return mapped_->stream; }
  /// Precondition: nobody else has the image any more, and the mapping's stream waits for those that used it.
  void unmap(const char* op);
  void release() noexcept;

 private:
  struct Mapped {
    std::shared_ptr<Image> image;
    StreamRef stream;
    GlBinding binding;
  };

  void check_usable(const char* op) const;
  /// Runs `work` with the image, mapped for it where the device shares it.
  template <class Work>
  void with_image(const Work& work);

  GlContextRef context_;
  std::shared_ptr<OpenDevice> device_;
  GlImage image_;
  GlImage::Format format_;
  ImageShape shape_;
  GraphicsResource* resource_ = nullptr;  // the context keeps it; null: the device is in host memory
  std::optional<Mapped> mapped_;
};

}  // namespace gpulua
