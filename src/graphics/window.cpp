#include "src/graphics/window.h"

#include <utility>

#include "src/base/error.h"
#include "src/graphics/glfw.h"
#include "src/graphics/headless_context.h"

namespace gpulua {
namespace {

VertexData describe_vertices(std::uint32_t buffer, DType dtype, const Dims& shape) {
  return {dtype == DType::uint8 ? VertexData::Kind::uint8 : VertexData::Kind::float32, buffer,
          static_cast<int>(shape[1])};
}

}  // namespace

GlWindow::GlWindow(GlContexts& contexts, OpenDevice& device, const WindowOptions& options)
    : screen_(options.headless ? open_headless(device, options) : open_glfw(options)),
      size_(screen_->size()),
      shown_(size_) {
  context_ = contexts.add_window(screen_);
  try {
    const GlScope scope(*context_, "window");
    canvas_.resize(size_);
  } catch (...) {
    destroy();
    throw;
  }
}

GlWindow::~GlWindow() {
  // What is mapped keeps the context.
  if (screen_ && !context_->has_mapped()) destroy();
}

Screen& GlWindow::screen(const char* op) const {
  if (screen_) return *screen_;
  throw Error("[{}] expected a window that is open, got one after window:close()", op);
}

bool GlWindow::is_open() {
  if (!screen_) return false;
  if (!screen_->poll()) {
    if (!context_->has_mapped()) destroy();
    return false;
  }
  const Screen::Size now = screen_->size();
  if ((now.width != size_.width || now.height != size_.height) && now.width > 0 && now.height > 0) {
    size_ = now;
    const GlScope scope(*context_, "window");
    canvas_.resize(now);
  }
  return true;
}

void GlWindow::close() {
  if (!screen_) return;
  if (context_->has_mapped())
    throw Error("[window:close] expected no call within b:with of a buffer of the window's: its memory is in use");
  destroy();
}

void GlWindow::destroy() noexcept {
  entered_.reset();
  try {
    // What a device knows of the buffers goes before them.
    const GlScope scope(*context_, "window:close");
    places_ = colors_ = pixels_ = StreamBuffer();
  } catch (const Error&) {  // the context is current in another thread
  }
  screen_.reset();
  context_->close();
}

void GlWindow::resize(Screen::Size size) {
  Screen& shown = screen("window:resize");
  const GlScope scope(*context_, "window:resize");
  canvas_.resize(size);
  shown.resize(size);
  size_ = size;
}

void GlWindow::clear(const std::array<float, 4>& color) {
  screen("window:clear");
  const GlScope scope(*context_, "window:clear");
  canvas_.bind();
  painter_.clear(color);
}

Painter::Vertices GlWindow::upload(const Vertices& vertices, const char* op) {
  Painter::Vertices result;
  result.color = vertices.color;
  result.view = vertices.view;
  result.has_depth = vertices.has_depth;
  if (vertices.buffer != nullptr) {
    if (&vertices.buffer->context() != context_.get())
      throw Error("[{}] expected a buffer of this window, which window:buffer makes, got one of another OpenGL context",
                  op);
    vertices.buffer->check_usable(op);
    const SharedBuffer::Elements& elements = vertices.buffer->elements();
    result.places = describe_vertices(vertices.buffer->id(), elements.dtype, elements.shape);
    result.count = elements.shape[0];
  } else {
    result.places = describe_vertices(places_.write(vertices.places), DType::float32, vertices.places->layout.shape);
    result.count = vertices.places->layout.shape[0];
  }
  if (vertices.colors)
    result.colors =
        describe_vertices(colors_.write(vertices.colors), vertices.colors->dtype, vertices.colors->layout.shape);
  return result;
}

void GlWindow::draw_points(const Vertices& vertices, float size) {
  screen("window:draw");
  const GlScope scope(*context_, "window:draw");
  if (const float most = painter_.most_size(); size > most)
    throw Error("[window:draw] size: expected at most {} pixels, as OpenGL draws, got {}", most, size);
  canvas_.bind();
  painter_.draw_points(upload(vertices, "window:draw"), size);
}

void GlWindow::draw_lines(const Vertices& vertices, float width) {
  screen("window:lines");
  const GlScope scope(*context_, "window:lines");
  canvas_.bind();
  painter_.draw_lines(upload(vertices, "window:lines"), width, size_);
}

void GlWindow::draw_picture(const Array& pixels, const std::array<float, 4>& rectangle, bool smooth) {
  screen("window:image");
  const GlScope scope(*context_, "window:image");
  canvas_.bind();
  const Dims& shape = pixels->layout.shape;
  painter_.draw_picture(
      {pixels_.write(pixels), static_cast<int>(shape[1]), static_cast<int>(shape[0]), rectangle, smooth});
}

void GlWindow::present() {
  Screen& shown = screen("window:present");
  if (!shown.is_shown()) return;
  const GlScope scope(*context_, "window:present");
  const Screen::Size now = shown.size();
  // Mesa on X11 learns at a swap that the window has another size: pixels beyond the old one are in the next picture.
  const int pictures = now.width == shown_.width && now.height == shown_.height ? 1 : 2;
  for (int i = 0; i < pictures; ++i) {
    canvas_.show(now);
    shown.present();
  }
  shown_ = now;
}

Array GlWindow::read(OpenDevice& device) {
  screen("window:read");
  const GlScope scope(*context_, "window:read");
  canvas_.copy_to(pixels_.reserve(static_cast<std::size_t>(size_.width) * static_cast<std::size_t>(size_.height) * 4));
  return pixels_.read(device, {size_.height, size_.width, 4}, DType::uint8);
}

void GlWindow::enter(const char* op) {
  screen(op);
  if (entered_) throw Error("[{}] expected no window:with inside of window:with", op);
  entered_ = std::make_unique<GlScope>(*context_, op);
  canvas_.bind();
}

}  // namespace gpulua
