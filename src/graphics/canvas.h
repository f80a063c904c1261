#pragma once

#include <cstdint>

#include "src/graphics/screen.h"

namespace gpulua {

/// What a window draws to: colours in 8 bits each and depths, with the top row first. The window's context is current
/// for every method.
class Canvas {
 public:
  /// Throws Error for more pixels than OpenGL takes.
  void resize(Screen::Size size);
  Screen::Size size() const { return size_; }
  /// Draws go here.
  void bind() const;
  /// Copies all pixels to the framebuffer 0, stretched to `size` pixels.
  void show(Screen::Size size) const;
  /// Queues a copy of all pixels, 4 bytes each, into the buffer.
  void copy_to(std::uint32_t buffer) const;

 private:
  Screen::Size size_{0, 0};
  std::uint32_t framebuffer_ = 0, colors_ = 0, depths_ = 0;
};

}  // namespace gpulua
