#include "src/device/cpu/cpu_textures.h"

#include <utility>

#include "src/base/error.h"
#include "src/device/cpu/abi/abi.h"
#include "src/device/device.h"

namespace gpulua::cpu {
namespace {

TextureElement element_of(DType dtype) {
  switch (dtype) {
    case DType::uint8:
      return TextureElement::uint8;
    case DType::int8:
      return TextureElement::int8;
    case DType::uint16:
      return TextureElement::uint16;
    case DType::int16:
      return TextureElement::int16;
    case DType::uint32:
      return TextureElement::uint32;
    case DType::int32:
      return TextureElement::int32;
    case DType::float16:
      return TextureElement::float16;
    default:
      return TextureElement::float32;
  }
}

TextureRecord describe(const ImageShape& image, void* memory, const Sampling& sampling, unsigned kind) {
  return {.texels = static_cast<char*>(memory),
          .row_bytes = image.row_bytes(),
          .slice_bytes = image.row_bytes() * static_cast<std::size_t>(image.height),
          .width = static_cast<int>(image.width),
          .height = static_cast<int>(image.height),
          .depth = static_cast<int>(image.depth),
          .shape = static_cast<unsigned>(image.dimensions) | (image.layered ? texture_layered : 0) | kind,
          .element = element_of(image.dtype),
          .channels = image.channels,
          .texel_bytes = static_cast<unsigned>(image.element_bytes()),
          .border = static_cast<cpu::TextureBorder>(sampling.border),
          .linear = sampling.linear,
          .normalized_coordinates = sampling.normalized_coordinates,
          .is_float = info(image.dtype).kind == DTypeKind::floating || sampling.normalized_values};
}

/// Memory of the device's.
class TextureBlock {
 public:
  TextureBlock(Device& device, StreamRef stream, std::size_t bytes)
      : device_(device), stream_(std::move(stream)), memory_(device_.allocate(bytes, *stream_)) {}
  ~TextureBlock() {
    if (memory_ != nullptr) device_.free(memory_, *stream_);
  }
  TextureBlock(const TextureBlock&) = delete;
  TextureBlock& operator=(const TextureBlock&) = delete;
  void* memory() const { return memory_; }

 private:
  Device& device_;
  StreamRef stream_;
  void* memory_;
};

/// A record where kernels find it.
class PlacedRecord {
 public:
  PlacedRecord(Device& device, const StreamRef& stream, const TextureRecord& record)
      : block_(device, stream, sizeof record) {
    if (block_.memory() == nullptr) throw Error(ErrorKind::memory, "[texture] out of memory on {}", device.info().name);
    device.upload(block_.memory(), &record, sizeof record, *stream);
  }
  std::uint64_t object() const { return reinterpret_cast<std::uint64_t>(block_.memory()); }

 private:
  TextureBlock block_;
};

struct CpuImage final : Image {
  CpuImage(Device& device, const StreamRef& stream, const ImageShape& wanted)
      : shape(wanted),
        elements(device, stream, shape.bytes()),
        record(device, stream, describe(shape, elements.memory(), {}, texture_is_surface)) {}
  std::uint64_t surface() override { return record.object(); }

  ImageShape shape;
  TextureBlock elements;
  PlacedRecord record;  // of the surface
};

class CpuTexture final : public Texture {
 public:
  /// Null `image`: the elements are an array's.
  CpuTexture(std::unique_ptr<PlacedRecord> record, std::shared_ptr<Image> image)
      : Texture(record->object()), record_(std::move(record)), image_(std::move(image)) {}

 private:
  std::unique_ptr<PlacedRecord> record_;
  std::shared_ptr<Image> image_;
};

class CpuTextures final : public Textures {
 public:
  explicit CpuTextures(Device& device) : device_(device), stream_(device.create_stream()) {}

  std::shared_ptr<Image> create_image(const ImageShape& shape) override {
    auto image = std::make_shared<CpuImage>(device_, stream_, shape);
    return image->elements.memory() != nullptr ? image : nullptr;
  }
  void write(Image& image, const void* memory, Stream& stream) override {
    auto& to = static_cast<CpuImage&>(image);
    device_.copy(to.elements.memory(), memory, to.shape.bytes(), stream);
  }
  void read(void* memory, Image& image, Stream& stream) override {
    auto& from = static_cast<CpuImage&>(image);
    device_.copy(memory, from.elements.memory(), from.shape.bytes(), stream);
  }
  std::shared_ptr<Texture> create_texture(std::shared_ptr<Image> image, const Sampling& sampling) override {
    auto& elements = static_cast<CpuImage&>(*image);
    return create(describe(elements.shape, elements.elements.memory(), sampling, 0), std::move(image));
  }
  std::shared_ptr<Texture> create_texture(const ImageShape& shape, void* memory, const Sampling& sampling) override {
    return create(describe(shape, memory, sampling, texture_in_rows), nullptr);
  }

 private:
  std::shared_ptr<Texture> create(const TextureRecord& record, std::shared_ptr<Image> image) {
    return std::make_shared<CpuTexture>(std::make_unique<PlacedRecord>(device_, stream_, record), std::move(image));
  }

  Device& device_;
  StreamRef stream_;
};

}  // namespace

std::unique_ptr<Textures> make_textures(Device& device) {
  return std::make_unique<CpuTextures>(device);
}

}  // namespace gpulua::cpu
