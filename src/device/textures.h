#pragma once

// Textures and surfaces of a device: elements that its texture units read for kernels, between positions and beyond
// borders.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "src/base/dtype.h"

namespace gpulua {

class Stream;

/// The elements of an image, row by row: `channels` numbers each.
struct ImageShape {
  DType dtype = DType::float32;  // float16, float32, or an integer of 8, 16 or 32 bits
  unsigned channels = 1;         // 1, 2 or 4
  int dimensions = 2;            // 1 to 3; with layers 1 or 2
  bool layered = false;
  std::int64_t width = 1, height = 1, depth = 1;  // depth: of the layers, in a layered image; 1 where there is no axis

  std::size_t element_bytes() const { return size_of(dtype) * channels; }
  std::size_t row_bytes() const { return element_bytes() * static_cast<std::size_t>(width); }
  std::size_t bytes() const { return row_bytes() * static_cast<std::size_t>(height * depth); }
};

/// What a texture gives beyond its border, with CUDA's numbers.
enum class TextureBorder : std::uint8_t { wrap, clamp, mirror, zero };

/// How a texture is read.
struct Sampling {
  bool linear = false;                  // between elements, where a read gives floats
  bool normalized_coordinates = false;  // an axis is as long as 1
  bool normalized_values = false;       // integers of 8 and 16 bits are fractions of the largest one
  TextureBorder border = TextureBorder::clamp;
};

/// Elements in the layout of the device's texture units.
class Image {
 public:
  virtual ~Image() = default;
  /// The value for a kernel's cudaSurfaceObject_t; the same at each call.
  virtual std::uint64_t surface() = 0;
};

/// Its object is the value for a kernel's cudaTextureObject_t.
class Texture {
 public:
  explicit Texture(std::uint64_t object) : object_(object) {}
  virtual ~Texture() = default;
  std::uint64_t object() const { return object_; }

 private:
  std::uint64_t object_;
};

/// Images and textures go when the work is done that was queued before their last owner went.
class Textures {
 public:
  virtual ~Textures() = default;
  /// Null when there is no room.
  virtual std::shared_ptr<Image> create_image(const ImageShape& shape) = 0;
  /// Copies all elements, which lie row by row at `memory` of the device.
  virtual void write(Image& image, const void* memory, Stream& stream) = 0;
  virtual void read(void* memory, Image& image, Stream& stream) = 0;
  virtual std::shared_ptr<Texture> create_texture(std::shared_ptr<Image> image, const Sampling& sampling) = 0;
  /// A texture of elements that stay where they are: those at `memory`, aligned to 512 bytes, in rows of a multiple of
  /// 32 bytes. `shape` has 1 dimension, where tex1Dfetch reads it, or 2.
  virtual std::shared_ptr<Texture> create_texture(const ImageShape& shape, void* memory, const Sampling& sampling) = 0;
};

}  // namespace gpulua
