#pragma once

#include <memory>
#include <optional>
#include <string>

#include "src/graphics/canvas.h"
#include "src/graphics/gl_contexts.h"
#include "src/graphics/painter.h"
#include "src/graphics/screen.h"
#include "src/graphics/shared_buffer.h"
#include "src/graphics/stream_buffer.h"

namespace gpulua {

/// A window with an OpenGL context of its own, which is current within its methods alone.
class GlWindow {
 public:
  /// `device`: whose GPU the context should be of.
  GlWindow(GlContexts& contexts, OpenDevice& device, const WindowOptions& options);
  ~GlWindow();
  GlWindow(const GlWindow&) = delete;
  GlWindow& operator=(const GlWindow&) = delete;

  /// Takes the events. False once the user or close() has closed the window.
  bool is_open();
  /// Throws Error while a buffer of the window's is mapped.
  void close();
  bool is_closed() const { return screen_ == nullptr; }
  Screen::Size size() const { return size_; }
  void resize(Screen::Size size);
  /// Throws Error, with `op` in brackets, after close().
  Screen& screen(const char* op) const;

  /// Vertices, from arrays or from a buffer that OpenGL has already.
  struct Vertices {
    Array places;                          // (n, 2) or (n, 3), row-major float32; null: `buffer`
    const SharedBuffer* buffer = nullptr;  // of such elements, in this window's context
    Array colors;                          // (n, 3) or (n, 4), row-major float32 or uint8; null: `color`
    std::array<float, 4> color{1, 1, 1, 1};
    ViewMatrix view{};
    bool has_depth = false;
  };
  void clear(const std::array<float, 4>& color);
  void draw_points(const Vertices& vertices, float size);
  void draw_lines(const Vertices& vertices, float width);
  /// (height, width, 4), row-major uint8, over the rectangle of OpenGL's numbers with the top first.
  void draw_picture(const Array& pixels, const std::array<float, 4>& rectangle, bool smooth);
  /// Shows what was drawn.
  void present();
  /// The pixels that were drawn: (height, width, 4), uint8, the top row first.
  Array read(OpenDevice& device);
  /// Makes the context current with the canvas as its framebuffer, until leave().
  void enter(const char* op);
  void leave() noexcept { entered_.reset(); }
  bool is_entered() const { return entered_ != nullptr; }

 private:
  void destroy() noexcept;
  Painter::Vertices upload(const Vertices& vertices, const char* op);

  GlContextRef context_;
  std::shared_ptr<Screen> screen_;  // null: closed
  Screen::Size size_;
  Screen::Size shown_;  // of the display when it last got a picture
  Canvas canvas_;
  Painter painter_;
  StreamBuffer places_, colors_, pixels_;
  std::unique_ptr<GlScope> entered_;
};

}  // namespace gpulua
