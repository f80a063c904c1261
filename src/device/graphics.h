#pragma once

// Memory that a device shares with OpenGL: a buffer or an image of OpenGL's is registered once, and mapped whenever
// work of the device uses it. While it is mapped OpenGL leaves it alone.
//
// The OpenGL context that owns the buffers and images is current in the calling thread, for every method.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "src/device/textures.h"

namespace gpulua {

class Stream;

/// A buffer or an image of OpenGL's that a device knows. It is forgotten with its last owner, and is not mapped then.
/// It goes before OpenGL's object does and before the object gets other memory.
class GraphicsResource {
 public:
  virtual ~GraphicsResource() = default;
};
using GraphicsResourceRef = std::shared_ptr<GraphicsResource>;

struct MappedMemory {
  void* memory = nullptr;
  std::size_t bytes = 0;
};

class Graphics {
 public:
  virtual ~Graphics() = default;
  /// Whether the current OpenGL context draws on this device.
  virtual bool has_current_context() = 0;

  virtual GraphicsResourceRef register_buffer(std::uint32_t id) = 0;
  /// `target`: GL_TEXTURE_2D or GL_RENDERBUFFER.
  virtual GraphicsResourceRef register_image(std::uint32_t id, std::uint32_t target) = 0;

  /// Work that is queued on `stream` from now on uses the memory, and follows what OpenGL has been given so far.
  virtual MappedMemory map(GraphicsResource& buffer, Stream& stream) = 0;
  /// The same for an image, which Textures reads and writes until it is unmapped.
  virtual std::shared_ptr<Image> map_image(GraphicsResource& image, const ImageShape& shape, Stream& stream) = 0;
  /// What OpenGL is given from now on follows the work that `stream` has so far.
  virtual void unmap(GraphicsResource& resource, Stream& stream) = 0;
};

}  // namespace gpulua
