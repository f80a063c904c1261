#pragma once

#include <cstdint>
#include <memory>

#include "src/array/array.h"
#include "src/device/graphics.h"

namespace gpulua {

/// A buffer of a window's through which elements go from arrays to OpenGL and back, frame for frame. It grows and does
/// not shrink. The window's context is current for every method.
class StreamBuffer {
 public:
  /// Copies the elements of a row-major array: on its device, where that is OpenGL's, else through the program's
  /// memory. They are for the calls of OpenGL's that come next. Returns the buffer's number.
  std::uint32_t write(const Array& elements);
  /// The buffer, for at least `bytes` that OpenGL writes.
  std::uint32_t reserve(std::size_t bytes);
  /// A new array of what OpenGL has written at the beginning.
  Array read(OpenDevice& device, Dims shape, DType dtype);

 private:
  /// True where the device copies by itself; registers the buffer with it.
  bool shares_with(OpenDevice& device);

  std::uint32_t id_ = 0;
  std::size_t capacity_ = 0;
  std::shared_ptr<OpenDevice> device_;  // that was asked last
  bool shares_ = false;
  GraphicsResourceRef resource_;  // null: not registered
};

}  // namespace gpulua
