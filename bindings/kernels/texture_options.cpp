#include "bindings/kernels/texture_options.h"

#include <string>
#include <string_view>
#include <utility>

#include "src/base/near_name.h"

namespace gpulua {

namespace {

/// An option that has one of some texts.
template <class T>
T check_choice(lua_State* L, int value, const char* option, std::initializer_list<std::pair<const char*, T>> choices) {
  std::string names;
  NearName near(lua_type(L, value) == LUA_TSTRING ? lua_tostring(L, value) : "");
  for (const auto& [name, result] : choices) {
    if (lua_type(L, value) == LUA_TSTRING && std::string_view(lua_tostring(L, value)) == name) return result;
    names += (names.empty() ? "\"" : ", \"") + std::string(name) + "\"";
    near.offer(name);
  }
  throw Error("[texture] {}: expected {}, got {}{}", option, names, describe(L, value), near.question());
}

}  // namespace

TextureOptions check_texture_options(lua_State* L, int index) {
  TextureOptions options;
  Sampling& sampling = options.sampling;
  const auto read_channels = [&](int value) {
    const std::int64_t count = check_integer(L, value, "texture", "1, 2 or 4 channels");
    if (count != 1 && count != 2 && count != 4)
      throw Error("[texture] channels: expected 1, 2 or 4 numbers of an element, got {}{}", count,
                  count == 3 ? "; colours take 4 with the opacity, gpu.pad adds one" : "");
    options.channels = static_cast<unsigned>(count);
  };
  const auto read_border = [&](int value) {
    using enum TextureBorder;
    options.has_border = true;
    sampling.border = check_choice<TextureBorder>(
        L, value, "border", {{"clamp", clamp}, {"zero", zero}, {"wrap", wrap}, {"mirror", mirror}});
  };
  read_options(
      L, index, "texture",
      {{"filter",
        [&](int v) {
          sampling.linear = check_choice<bool>(L, v, "filter", {{"point", false}, {"linear", true}});
        }},
       {"border", read_border},
       {"normalized", [&](int v) { sampling.normalized_coordinates = check_flag(L, v, "texture", "normalized"); }},
       {"read",
        [&](int v) {
          sampling.normalized_values = check_choice<bool>(L, v, "read", {{"element", false}, {"normalized", true}});
        }},
       {"channels", read_channels},
       {"layered", [&](int v) { options.layered = check_flag(L, v, "texture", "layered"); }},
       {"memory", [&](int v) {
          options.in_rows = check_choice<bool>(L, v, "memory", {{"image", false}, {"array", true}});
        }}});
  return options;
}

void check_sampling(const ImageShape& shape, const TextureOptions& options) {
  const Sampling& sampling = options.sampling;
  const bool is_float = info(shape.dtype).kind == DTypeKind::floating;
  if (sampling.normalized_values && (is_float || size_of(shape.dtype) > 2))
    throw Error("[texture] read: \"normalized\" is for integers of 8 and 16 bits, got {}", name(shape.dtype));
  if (sampling.linear && !is_float && !sampling.normalized_values)
    throw Error(
        "[texture] filter: \"linear\" reads floats: expected float16 or float32, or read = \"normalized\" for integers "
        "of 8 and 16 bits, got {}",
        name(shape.dtype));
  const bool repeats = sampling.border == TextureBorder::wrap || sampling.border == TextureBorder::mirror;
  if (repeats && !sampling.normalized_coordinates)
    throw Error(
        "[texture] border: \"wrap\" and \"mirror\" are for coordinates from 0 to 1: expected normalized = true with "
        "them, got false");
  if (!options.in_rows) return;
  if (shape.layered || shape.dimensions > 2)
    throw Error(
        "[texture] memory: \"array\" is for 1 or 2 axes without layers; memory = \"image\" copies the elements");
  if (shape.dimensions == 1 && (sampling.linear || sampling.normalized_coordinates || options.has_border))
    throw Error(
        "[texture] memory: \"array\" of 1 axis is read by tex1Dfetch, which has no filter, border or normalized "
        "coordinates; memory = \"image\" has them, for tex1D");
}

}  // namespace gpulua
