#include "src/graphics/shared_image.h"

#include <utility>

#include "src/base/error.h"
#include "src/graphics/sharing.h"
#include "src/runtime/buffer.h"

namespace gpulua {

SharedImage::SharedImage(GlContexts& contexts, OpenDevice& device, GlImage image, const char* op)
    : context_(contexts.current(op)), device_(device.shared_from_this()), image_(image) {
  const GlScope scope(*context_, op);
  if (!image_.is_there())
    throw Error("[{}] expected the number of a {} in the current OpenGL context, got {}, which is none", op,
                image_.kind(), image_.id);
  check_shares(device, op);
  format_ = image_.format(op);
  if (format_.channels == 0)
    throw Error(
        "[{}] expected a format with 1, 2 or 4 numbers of 8, 16 or 32 bits, such as GL_RGBA8 or GL_R32F, got 0x{:X}, "
        "as "
        "glTexImage2D or glRenderbufferStorage has set it",
        op, format_.internal);
  shape_.dtype = format_.dtype;
  shape_.channels = format_.channels;
  shape_.width = format_.width;
  shape_.height = format_.height;
  if (device.info().in_host_memory) return;
  constexpr std::uint32_t texture_2d = 0x0DE1, renderbuffer = 0x8D41;
  try {
    resource_ = context_->keep(
        device.device().graphics()->register_image(image_.id, image_.is_texture ? texture_2d : renderbuffer));
  } catch (const Error& error) {
    throw Error(error.kind(), "[{}] {} cannot share OpenGL's {} {}: {}", op, device.name(), image_.kind(), image_.id,
                error.what());
  }
}

Dims SharedImage::dims() const {
  Dims dims{shape_.height, shape_.width};
  if (shape_.channels > 1) dims.push_back(shape_.channels);
  return dims;
}

void SharedImage::check_usable(const char* op) const {
  if (is_released()) throw Error("[{}] expected an image of OpenGL's, got one after :release()", op);
  if (mapped_) throw Error("[{}] expected an image that is not mapped, got one inside of its :with", op);
  if (!image_.is_there())
    throw Error("[{}] OpenGL's {} {} was deleted: call :release() before that", op, image_.kind(), image_.id);
  const GlImage::Format now = image_.format(op);
  if (now == format_) return;
  throw Error(
      "[{}] expected OpenGL's {} {} with {} x {} elements and the format 0x{:X}, as it was registered, got {} x {} and "
      "0x{:X}: call :release() before it gets others, and register it again",
      op, image_.kind(), image_.id, format_.width, format_.height, format_.internal, now.width, now.height,
      now.internal);
}

template <class Work>
void SharedImage::with_image(const Work& work) {
  Graphics& graphics = *device_->device().graphics();
  const StreamRef stream = device_->stream();
  const std::shared_ptr<Image> image = graphics.map_image(*resource_, shape_, *stream);
  try {
    work(*device_->device().textures(), *image, *stream);
  } catch (...) {
    graphics.unmap(*resource_, *stream);
    throw;
  }
  graphics.unmap(*resource_, *stream);
}

Array SharedImage::read(const char* op) {
  if (is_released()) check_usable(op);
  const GlScope scope(*context_, op);
  check_usable(op);
  device_->check_not_captured("reads an image of OpenGL's");
  Array result = empty(*device_, dims(), shape_.dtype);
  void* const memory = result->write(device_->stream());
  if (resource_) {
    with_image([&](Textures& textures, Image& image, Stream& stream) { textures.read(memory, image, stream); });
  } else {
    device_->synchronize(*device_->stream());
    image_.read(memory, format_);
  }
  return result;
}

void SharedImage::write(const Array& elements, const char* op) {
  if (is_released()) check_usable(op);
  const GlScope scope(*context_, op);
  check_usable(op);
  device_->check_not_captured("writes an image of OpenGL's");
  const void* const memory = elements->read(device_->stream());
  if (resource_) {
    with_image([&](Textures& textures, Image& image, Stream& stream) { textures.write(image, memory, stream); });
  } else {
    device_->synchronize(*device_->stream());
    image_.write(memory, format_);
  }
}

std::shared_ptr<Image> SharedImage::map(const char* op) {
  if (is_released()) check_usable(op);
  const GlScope scope(*context_, op);
  check_usable(op);
  device_->check_not_captured("maps an image of OpenGL's");
  Device& device = device_->device();
  const StreamRef stream = device_->stream();
  std::shared_ptr<Image> image;
  if (resource_) {
    image = device.graphics()->map_image(*resource_, shape_, *stream);
  } else {
    Textures* const textures = device.textures();
    image = textures != nullptr ? textures->create_image(shape_) : nullptr;
    if (!image)
      throw Error(ErrorKind::memory, "[{}] out of memory on {}: {} bytes wanted", op, device_->name(), shape_.bytes());
    const Array elements = read(op);
    textures->write(*image, elements->read(stream), *stream);
  }
  context_->add_mapped(1);
  mapped_.emplace(Mapped{image, stream, current_binding()});
  return image;
}

void SharedImage::unmap(const char* op) {
  const Mapped mapped = std::move(*mapped_);
  mapped_.reset();
  context_->add_mapped(-1);
  const CurrentContext current(mapped.binding, op);
  if (resource_) return device_->device().graphics()->unmap(*resource_, *mapped.stream);
  const Array elements = empty(*device_, dims(), shape_.dtype);
  device_->device().textures()->read(elements->write(mapped.stream), *mapped.image, *mapped.stream);
  write(elements, op);
}

void SharedImage::release() noexcept {
  if (is_released()) return;
  if (mapped_) {
    try {
      unmap("release");
    } catch (const Error&) {  // the image stays as it is
    }
  }
  context_->retire(0, std::exchange(resource_, nullptr));
  image_.id = 0;
}

}  // namespace gpulua
