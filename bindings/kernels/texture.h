#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bindings/lua/lua.h"
#include "src/array/array.h"
#include "src/device/shared/source_textures.h"
#include "src/device/textures.h"
#include "src/runtime/counted_memory.h"

namespace gpulua {

/// The elements that textures and a surface share.
struct TextureElements {
  std::shared_ptr<OpenDevice> device;
  ImageShape shape;
  Dims dims;                                       // of an array with these elements
  std::unique_ptr<CountedMemory> counted;          // of the image
  std::shared_ptr<Image> image;                    // null: the elements are an array's
  std::vector<std::shared_ptr<Texture>> textures;  // as long as work uses the elements
};

/// A script's texture, or the surface of one.
struct TextureHandle {
  std::shared_ptr<TextureElements> elements;
  BufferRef order;  // orders reads and writes of the elements as an array's buffer does, and owns them
  BufferRef array;  // whose elements they are; null: those of an image
  Sampling sampling;
  std::uint64_t object = 0;
  bool is_surface = false;

  /// The value for a kernel that is queued next on the stream.
  std::uint64_t use(const StreamRef& stream) const;
  /// True when a kernel's call reads such elements.
  bool fits(const TextureUse& use) const;
  /// The image is somebody else's, and goes: `stream` waits for the work that uses it, and a later use throws Error.
  void end_mapping(const StreamRef& stream, const char* why);
  /// The call that reads them: "tex2D<float4>".
  std::string call() const;
};

/// Pushes a texture of an image that is not its own, with the options of gpu.texture at `options`.
void push_mapped_texture(lua_State* L, OpenDevice& device, std::shared_ptr<Image> image, const ImageShape& shape,
                         Dims dims, int options);

template <>
struct LuaType<TextureHandle> {
  static constexpr const char* name = "a texture";
};

}  // namespace gpulua
