#pragma once

#include <optional>

#include "bindings/lua/lua.h"
#include "src/device/textures.h"

namespace gpulua {

/// The options of gpu.texture.
struct TextureOptions {
  Sampling sampling;
  std::optional<unsigned> channels;
  bool has_border = false, layered = false, in_rows = false;
};

/// Reads them at `index`.
TextureOptions check_texture_options(lua_State* L, int index);
/// Throws Error where an image of this kind is not read so.
void check_sampling(const ImageShape& shape, const TextureOptions& options);

}  // namespace gpulua
