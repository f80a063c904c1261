#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "src/graphics/canvas.h"

namespace gpulua {

/// Numbers of vertices in a buffer, one vertex after the other.
struct VertexData {
  enum class Kind : std::uint8_t { none, float32, uint8 };
  Kind kind = Kind::none;
  std::uint32_t buffer = 0;
  int components = 0;
};

/// Columns of a matrix, by which positions (x, y, z, 1) come to OpenGL's, which are from -1 to 1 with y upwards.
using ViewMatrix = std::array<float, 16>;

/// Draws to a canvas. The window's context is current for every method, with the canvas bound.
class Painter {
 public:
  struct Vertices {
    VertexData places;  // 2 or 3 float32
    VertexData colors;  // 3 or 4, uint8 as fractions of 255; none: `color`
    std::array<float, 4> color{1, 1, 1, 1};
    std::int64_t count = 0;
    ViewMatrix view{};
    bool has_depth = false;  // nearer vertices hide others
  };

  void clear(const std::array<float, 4>& color);
  /// Squares of up to 2 pixels, discs above.
  void draw_points(const Vertices& vertices, float size);
  /// The largest size of points that OpenGL draws.
  float most_size();
  /// From each vertex to the next one, but not to or from one with NaN.
  void draw_lines(const Vertices& vertices, float width, Screen::Size pixels);

  /// Pixels in a buffer, 4 bytes each, drawn over the rectangle.
  struct Picture {
    std::uint32_t buffer = 0;
    int width = 0, height = 0;
    std::array<float, 4> rectangle{-1, -1, 1, 1};  // left, top, right, bottom, of OpenGL's numbers with the top first
    bool smooth = false;                           // between pixels, where it is stretched
  };
  void draw_picture(const Picture& picture);

 private:
  struct Program {
    std::uint32_t id = 0;
    int view = -1, size = -1, pixels = -1, rectangle = -1;
  };

  void open();
  static Program build(const char* vertex, const char* geometry, const char* fragment);
  void set_vertices(const Program& program, const Vertices& vertices);

  bool is_open_ = false;
  Program points_, lines_, picture_;
  std::uint32_t vertex_array_ = 0, texture_ = 0;
  int texture_width_ = 0, texture_height_ = 0;
};

}  // namespace gpulua
