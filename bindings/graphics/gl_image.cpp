// gpu.gl: images of OpenGL's, as gl.lua uses them. The functions have the caller's name as an argument.

#include <string>
#include <utility>

#include "bindings/arrays/array_options.h"
#include "bindings/arrays/lua_array.h"
#include "bindings/graphics/graphics_parts.h"
#include "bindings/kernels/texture.h"
#include "bindings/lua/state.h"
#include "src/expressions/transfer.h"
#include "src/graphics/shared_image.h"

namespace gpulua {

using SharedImageRef = std::shared_ptr<SharedImage>;

template <>
struct LuaType<SharedImageRef> {
  static constexpr const char* name = "an image of OpenGL's";
};

namespace {

constexpr const char* why_image_unmapped =
    "the texture showed an image of OpenGL's, which is not mapped any more: use it inside of :with, or copy the "
    "elements "
    "there with texture:array()";

SharedImage& check_shared_image(lua_State* L) {
  return *check<SharedImageRef>(L, 1, "gl");
}

/// gl_image(contexts, op, id, is_texture [, {device}])
int gl_image(lua_State* L) {
  auto& contexts = check<GlContextsRef>(L, 1, "gl");
  const std::string op(check_string(L, 2, "gl", "a name"));
  const bool is_texture = lua_toboolean(L, 4) != 0;
  const std::string what = std::string("the number of a ") + (is_texture ? "texture" : "renderbuffer") + " of OpenGL's";
  const std::uint32_t id = check_gl_number(L, 3, op.c_str(), what.c_str());
  const ArrayOptions options = check_options(L, 5, op.c_str());
  push(L, std::make_shared<SharedImage>(*contexts, *options.device, GlImage{id, is_texture}, op.c_str()));
  return 1;
}

/// gl_image_info(image): OpenGL's number, 0 after the release; the shape; the dtype's name.
int gl_image_info(lua_State* L) {
  const SharedImage& image = check_shared_image(L);
  lua_pushnumber(L, image.id());
  lua_newtable(L);
  int axis = 0;
  for (const std::int64_t extent : image.dims()) {
    lua_pushnumber(L, static_cast<double>(extent));
    lua_rawseti(L, -2, ++axis);
  }
  const std::string_view dtype = name(image.shape().dtype);
  lua_pushlstring(L, dtype.data(), dtype.size());
  return 3;
}

/// gl_image_read(image, op): a copy of the elements.
int gl_image_read(lua_State* L) {
  push_array(L, check_shared_image(L).read(std::string(check_string(L, 2, "gl", "a name")).c_str()));
  return 1;
}

/// gl_image_write(image, op, x)
int gl_image_write(lua_State* L) {
  SharedImage& image = check_shared_image(L);
  const std::string op(check_string(L, 2, "gl", "a name"));
  const Array& array = check<Array>(L, 3, op.c_str());
  if (array->dtype != image.shape().dtype || array->layout.shape != image.dims() || &array->device() != &image.device())
    throw Error("[{}] expected an array {}{} on {}, got {} on {}", op, name(image.shape().dtype),
                to_string(image.dims()), image.device().name(), type_text(*array), array->device().name());
  image.write(contiguous(array), op.c_str());
  return 0;
}

/// gl_image_map(image, op, options): a texture of the image.
int gl_image_map(lua_State* L) {
  SharedImage& image = check_shared_image(L);
  const std::string op(check_string(L, 2, "gl", "a name"));
  check_not_recorded(L, op.c_str(), "when the image is not mapped");
  std::shared_ptr<Image> mapped = image.map(op.c_str());
  try {
    push_mapped_texture(L, image.device(), std::move(mapped), image.shape(), image.dims(), 3);
  } catch (const Error&) {
    image.unmap(op.c_str());
    throw;
  }
  return 1;
}

/// gl_image_unmap(image, op, texture)
int gl_image_unmap(lua_State* L) {
  SharedImage& image = check_shared_image(L);
  const std::string op(check_string(L, 2, "gl", "a name"));
  auto& texture = check<TextureHandle>(L, 3, op.c_str());
  if (!image.is_mapped()) return 0;
  try {
    texture.end_mapping(image.stream(), why_image_unmapped);
  } catch (const Error&) {
    image.unmap(op.c_str());
    throw;
  }
  image.unmap(op.c_str());
  return 0;
}

/// gl_image_release(image, op)
int gl_image_release(lua_State* L) {
  SharedImage& image = check_shared_image(L);
  if (image.is_mapped())
    throw Error("[{}] expected an image that is not mapped, got one inside of its :with",
                check_string(L, 2, "gl", "a name"));
  image.release();
  return 0;
}

}  // namespace

void add_gl_images(lua_State* L) {
  new_metatable<SharedImageRef>(L, {});
  lua_pop(L, 1);
  set_functions(L, {{"gl_image", protect<gl_image>},
                    {"gl_image_info", protect<gl_image_info>},
                    {"gl_image_read", protect<gl_image_read>},
                    {"gl_image_write", protect<gl_image_write>},
                    {"gl_image_map", protect<gl_image_map>},
                    {"gl_image_unmap", protect<gl_image_unmap>},
                    {"gl_image_release", protect<gl_image_release>}});
}

}  // namespace gpulua
