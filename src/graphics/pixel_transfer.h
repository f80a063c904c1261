#pragma once

#include <cstdint>

#include "src/base/dtype.h"

namespace gpulua {

/// A texture or a renderbuffer of the context that is current for every method. The program's bindings and settings are
/// the same before and after.
struct GlImage {
  /// What its elements are, and how OpenGL calls them.
  struct Format {
    int width = 0, height = 0;
    unsigned internal = 0;
    DType dtype = DType::uint8;
    unsigned channels = 0;  // 1, 2 or 4; 0: the format has no such elements
    bool is_integer = false;
    bool operator==(const Format&) const = default;
  };

  std::uint32_t id = 0;
  bool is_texture = true;

  const char* kind() const { return is_texture ? "texture" : "renderbuffer"; }
  /// False where OpenGL has no such image any more.
  bool is_there() const;
  /// Throws Error, with `op` in brackets, for a texture of another kind than GL_TEXTURE_2D, and for several samples.
  Format format(const char* op) const;
  /// Copies all elements, row by row, from and to the program's memory.
  void read(void* memory, const Format& format) const;
  void write(const void* memory, const Format& format) const;
};

}  // namespace gpulua
