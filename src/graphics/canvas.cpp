#include "src/graphics/canvas.h"

#include <algorithm>

#include "src/base/error.h"
#include "src/graphics/opengl.h"

namespace gpulua {

void Canvas::resize(Screen::Size size) {
  const OpenGl& gl = opengl();
  GLint most = 0;
  gl.get_integer(GL_MAX_RENDERBUFFER_SIZE, &most);
  if (std::max(size.width, size.height) > most)
    throw Error("[window] expected at most {} pixels of width and height, as OpenGL takes, got {} and {}", most,
                size.width, size.height);
  if (framebuffer_ == 0) {
    gl.gen_framebuffers(1, &framebuffer_);
    gl.gen_renderbuffers(1, &colors_);
    gl.gen_renderbuffers(1, &depths_);
  }
  gl.bind_renderbuffer(GL_RENDERBUFFER, colors_);
  gl.renderbuffer_storage(GL_RENDERBUFFER, GL_RGBA8, size.width, size.height);
  gl.bind_renderbuffer(GL_RENDERBUFFER, depths_);
  gl.renderbuffer_storage(GL_RENDERBUFFER, GL_DEPTH_COMPONENT24, size.width, size.height);
  gl.bind_framebuffer(GL_FRAMEBUFFER, framebuffer_);
  gl.framebuffer_renderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, colors_);
  gl.framebuffer_renderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, depths_);
  if (gl.check_framebuffer_status(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
    throw Error(ErrorKind::memory, "[window] OpenGL has no memory for {} x {} pixels", size.width, size.height);
  size_ = size;
  bind();
  gl.clear_color(0, 0, 0, 1);
  gl.clear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
}

void Canvas::bind() const {
  opengl().bind_framebuffer(GL_FRAMEBUFFER, framebuffer_);
  opengl().viewport(0, 0, size_.width, size_.height);
}

void Canvas::show(Screen::Size size) const {
  const OpenGl& gl = opengl();
  gl.bind_framebuffer(GL_READ_FRAMEBUFFER, framebuffer_);
  gl.bind_framebuffer(GL_DRAW_FRAMEBUFFER, 0);
  // OpenGL's own rows begin at the bottom.
  gl.blit_framebuffer(0, 0, size_.width, size_.height, 0, size.height, size.width, 0, GL_COLOR_BUFFER_BIT, GL_NEAREST);
  bind();
}

void Canvas::copy_to(std::uint32_t buffer) const {
  const OpenGl& gl = opengl();
  gl.bind_framebuffer(GL_READ_FRAMEBUFFER, framebuffer_);
  gl.bind_buffer(GL_PIXEL_PACK_BUFFER, buffer);
  gl.pixel_store(GL_PACK_ALIGNMENT, 1);
  gl.read_pixels(0, 0, size_.width, size_.height, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
  gl.bind_buffer(GL_PIXEL_PACK_BUFFER, 0);
}

}  // namespace gpulua
