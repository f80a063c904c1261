#include "src/graphics/pixel_transfer.h"

#include <array>
#include <utility>

#include "src/base/error.h"
#include "src/graphics/opengl.h"

namespace gpulua {
namespace {

struct FormatRow {
  GLenum internal;
  DType dtype;
  unsigned channels;
  bool is_integer;
};

constexpr FormatRow formats[] = {
    {GL_R8, DType::uint8, 1, false},     {GL_RG8, DType::uint8, 2, false},     {GL_RGBA8, DType::uint8, 4, false},
    {GL_R16, DType::uint16, 1, false},   {GL_RG16, DType::uint16, 2, false},   {GL_RGBA16, DType::uint16, 4, false},
    {GL_R16F, DType::float16, 1, false}, {GL_RG16F, DType::float16, 2, false}, {GL_RGBA16F, DType::float16, 4, false},
    {GL_R32F, DType::float32, 1, false}, {GL_RG32F, DType::float32, 2, false}, {GL_RGBA32F, DType::float32, 4, false},
    {GL_R8UI, DType::uint8, 1, true},    {GL_RG8UI, DType::uint8, 2, true},    {GL_RGBA8UI, DType::uint8, 4, true},
    {GL_R8I, DType::int8, 1, true},      {GL_RG8I, DType::int8, 2, true},      {GL_RGBA8I, DType::int8, 4, true},
    {GL_R16UI, DType::uint16, 1, true},  {GL_RG16UI, DType::uint16, 2, true},  {GL_RGBA16UI, DType::uint16, 4, true},
    {GL_R16I, DType::int16, 1, true},    {GL_RG16I, DType::int16, 2, true},    {GL_RGBA16I, DType::int16, 4, true},
    {GL_R32UI, DType::uint32, 1, true},  {GL_RG32UI, DType::uint32, 2, true},  {GL_RGBA32UI, DType::uint32, 4, true},
    {GL_R32I, DType::int32, 1, true},    {GL_RG32I, DType::int32, 2, true},    {GL_RGBA32I, DType::int32, 4, true},
};

GLenum pixel_format(const GlImage::Format& format) {
  if (format.is_integer)
    return format.channels == 1 ? GL_RED_INTEGER : format.channels == 2 ? GL_RG_INTEGER : GL_RGBA_INTEGER;
  return format.channels == 1 ? GL_RED : format.channels == 2 ? GL_RG : GL_RGBA;
}

GLenum pixel_type(DType dtype) {
  switch (dtype) {
    case DType::uint8:
      return GL_UNSIGNED_BYTE;
    case DType::int8:
      return GL_BYTE;
    case DType::uint16:
      return GL_UNSIGNED_SHORT;
    case DType::int16:
      return GL_SHORT;
    case DType::uint32:
      return GL_UNSIGNED_INT;
    case DType::int32:
      return GL_INT;
    case DType::float16:
      return GL_HALF_FLOAT;
    default:
      return GL_FLOAT;
  }
}

GLint integer_of(GLenum name) {
  GLint value = 0;
  opengl().get_integer(name, &value);
  return value;
}

/// Rows without gaps, in the program's memory, for the transfers of its scope.
class PlainTransfers {
 public:
  PlainTransfers()
      : pack_buffer_(integer_of(GL_PIXEL_PACK_BUFFER_BINDING)),
        unpack_buffer_(integer_of(GL_PIXEL_UNPACK_BUFFER_BINDING)) {
    const OpenGl& gl = opengl();
    for (std::size_t i = 0; i < settings.size(); ++i) {
      previous_[i] = integer_of(settings[i].first);
      gl.pixel_store(settings[i].first, settings[i].second);
    }
    gl.bind_buffer(GL_PIXEL_PACK_BUFFER, 0);
    gl.bind_buffer(GL_PIXEL_UNPACK_BUFFER, 0);
  }
  ~PlainTransfers() {
    const OpenGl& gl = opengl();
    for (std::size_t i = 0; i < settings.size(); ++i) gl.pixel_store(settings[i].first, previous_[i]);
    gl.bind_buffer(GL_PIXEL_PACK_BUFFER, static_cast<GLuint>(pack_buffer_));
    gl.bind_buffer(GL_PIXEL_UNPACK_BUFFER, static_cast<GLuint>(unpack_buffer_));
  }
  PlainTransfers(const PlainTransfers&) = delete;
  PlainTransfers& operator=(const PlainTransfers&) = delete;

 private:
  static constexpr std::array<std::pair<GLenum, GLint>, 10> settings{{{GL_PACK_ALIGNMENT, 1},
                                                                      {GL_PACK_ROW_LENGTH, 0},
                                                                      {GL_PACK_SKIP_ROWS, 0},
                                                                      {GL_PACK_SKIP_PIXELS, 0},
                                                                      {GL_PACK_SWAP_BYTES, 0},
                                                                      {GL_UNPACK_ALIGNMENT, 1},
                                                                      {GL_UNPACK_ROW_LENGTH, 0},
                                                                      {GL_UNPACK_SKIP_ROWS, 0},
                                                                      {GL_UNPACK_SKIP_PIXELS, 0},
                                                                      {GL_UNPACK_SWAP_BYTES, 0}}};
  std::array<GLint, settings.size()> previous_{};
  GLint pack_buffer_, unpack_buffer_;
};

/// Binds a texture or a renderbuffer, and then what was bound.
class BoundImage {
 public:
  explicit BoundImage(const GlImage& image)
      : is_texture_(image.is_texture),
        previous_(integer_of(is_texture_ ? GL_TEXTURE_BINDING_2D : GL_RENDERBUFFER_BINDING)) {
    bind(image.id);
  }
  ~BoundImage() { bind(static_cast<GLuint>(previous_)); }
  BoundImage(const BoundImage&) = delete;
  BoundImage& operator=(const BoundImage&) = delete;

 private:
  void bind(GLuint id) const {
    is_texture_ ? opengl().bind_texture(GL_TEXTURE_2D, id) : opengl().bind_renderbuffer(GL_RENDERBUFFER, id);
  }

  bool is_texture_;
  GLint previous_;
};

/// Framebuffers for reading and drawing that hold an image each; then those that the program had bound.
class Framebuffers {
 public:
  Framebuffers() : read_(integer_of(GL_READ_FRAMEBUFFER_BINDING)), draw_(integer_of(GL_DRAW_FRAMEBUFFER_BINDING)) {
    const OpenGl& gl = opengl();
    gl.gen_framebuffers(2, own_);
    gl.bind_framebuffer(GL_READ_FRAMEBUFFER, own_[0]);
    gl.bind_framebuffer(GL_DRAW_FRAMEBUFFER, own_[1]);
  }
  ~Framebuffers() {
    const OpenGl& gl = opengl();
    gl.bind_framebuffer(GL_READ_FRAMEBUFFER, static_cast<GLuint>(read_));
    gl.bind_framebuffer(GL_DRAW_FRAMEBUFFER, static_cast<GLuint>(draw_));
    gl.delete_framebuffers(2, own_);
  }
  Framebuffers(const Framebuffers&) = delete;
  Framebuffers& operator=(const Framebuffers&) = delete;

 private:
  GLint read_, draw_;
  GLuint own_[2] = {0, 0};
};

}  // namespace

bool GlImage::is_there() const {
  return (is_texture ? opengl().is_texture(id) : opengl().is_renderbuffer(id)) == GL_TRUE;
}

GlImage::Format GlImage::format(const char* op) const {
  const OpenGl& gl = opengl();
  const BoundImage bound(*this);
  GLint width = 0, height = 0, internal = 0, samples = 0;
  if (is_texture) {
    if (static_cast<GLuint>(integer_of(GL_TEXTURE_BINDING_2D)) != id) {
      gl.get_error();
      throw Error("[{}] expected a texture that was bound to GL_TEXTURE_2D, got {} of another kind", op, id);
    }
    gl.get_tex_level_parameter(GL_TEXTURE_2D, 0, GL_TEXTURE_WIDTH, &width);
    gl.get_tex_level_parameter(GL_TEXTURE_2D, 0, GL_TEXTURE_HEIGHT, &height);
    gl.get_tex_level_parameter(GL_TEXTURE_2D, 0, GL_TEXTURE_INTERNAL_FORMAT, &internal);
  } else {
    gl.get_renderbuffer_parameter(GL_RENDERBUFFER, GL_RENDERBUFFER_WIDTH, &width);
    gl.get_renderbuffer_parameter(GL_RENDERBUFFER, GL_RENDERBUFFER_HEIGHT, &height);
    gl.get_renderbuffer_parameter(GL_RENDERBUFFER, GL_RENDERBUFFER_INTERNAL_FORMAT, &internal);
    gl.get_renderbuffer_parameter(GL_RENDERBUFFER, GL_RENDERBUFFER_SAMPLES, &samples);
    if (samples > 1)
      throw Error(
          "[{}] expected a renderbuffer of one sample for each pixel, got {} with {}: glBlitFramebuffer joins them", op,
          id, samples);
  }
  Format result{width, height, static_cast<unsigned>(internal)};
  for (const FormatRow& row : formats) {
    if (row.internal != result.internal) continue;
    result.dtype = row.dtype;
    result.channels = row.channels;
    result.is_integer = row.is_integer;
  }
  return result;
}

void GlImage::read(void* memory, const Format& format) const {
  const OpenGl& gl = opengl();
  const PlainTransfers plain;
  if (is_texture) {
    const BoundImage bound(*this);
    return gl.get_tex_image(GL_TEXTURE_2D, 0, pixel_format(format), pixel_type(format.dtype), memory);
  }
  const Framebuffers framebuffers;
  gl.framebuffer_renderbuffer(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, id);
  gl.read_pixels(0, 0, format.width, format.height, pixel_format(format), pixel_type(format.dtype), memory);
}

void GlImage::write(const void* memory, const Format& format) const {
  const OpenGl& gl = opengl();
  const PlainTransfers plain;
  if (is_texture) {
    const BoundImage bound(*this);
    return gl.tex_sub_image_2d(GL_TEXTURE_2D, 0, 0, 0, format.width, format.height, pixel_format(format),
                               pixel_type(format.dtype), memory);
  }
  // Pixels come to a renderbuffer through a texture of its format.
  const bool was_cut = gl.is_enabled(GL_SCISSOR_TEST) == GL_TRUE;
  if (was_cut) gl.disable(GL_SCISSOR_TEST);
  const Framebuffers framebuffers;
  GlImage texture;
  gl.gen_textures(1, &texture.id);
  {
    const BoundImage bound(texture);
    gl.tex_image_2d(GL_TEXTURE_2D, 0, static_cast<GLint>(format.internal), format.width, format.height, 0,
                    pixel_format(format), pixel_type(format.dtype), memory);
  }
  gl.framebuffer_texture_2d(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture.id, 0);
  gl.framebuffer_renderbuffer(GL_DRAW_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, id);
  gl.blit_framebuffer(0, 0, format.width, format.height, 0, 0, format.width, format.height, GL_COLOR_BUFFER_BIT,
                      GL_NEAREST);
  gl.delete_textures(1, &texture.id);
  if (was_cut) gl.enable(GL_SCISSOR_TEST);
}

}  // namespace gpulua
