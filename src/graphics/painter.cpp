#include "src/graphics/painter.h"

#include <string>

#include "src/base/error.h"
#include "src/graphics/opengl.h"

namespace gpulua {
namespace {

// The canvas has its top row first, so y is turned around.
constexpr const char* point_vertex = R"(#version 330 core
layout(location = 0) in vec3 place;
layout(location = 1) in vec4 color;
uniform mat4 view;
uniform float size;
out vec4 tint;
void main() {
  vec4 position = view * vec4(place, 1.0);
  gl_Position = vec4(position.x, -position.y, position.zw);
  gl_PointSize = size;
  tint = color;
}
)";

constexpr const char* point_fragment = R"(#version 330 core
uniform float size;
in vec4 tint;
out vec4 pixel;
void main() {
  float cover = 1.0;
  if (size > 2.0) cover = clamp(0.5 * size + 0.5 - length(gl_PointCoord - 0.5) * size, 0.0, 1.0);
  if (cover == 0.0) discard;
  pixel = vec4(tint.rgb, tint.a * cover);
}
)";

constexpr const char* line_vertex = R"(#version 330 core
layout(location = 0) in vec3 place;
layout(location = 1) in vec4 color;
uniform mat4 view;
out vec4 shade;
void main() {
  vec4 position = view * vec4(place, 1.0);
  gl_Position = vec4(position.x, -position.y, position.zw);
  shade = color;
}
)";

// A line is a rectangle of its width, which is half a width longer at both ends, so that corners are closed.
constexpr const char* line_geometry = R"(#version 330 core
layout(lines) in;
layout(triangle_strip, max_vertices = 4) out;
uniform vec2 pixels;
uniform float size;
in vec4 shade[];
out vec4 tint;
void emit(vec4 end, vec2 shift, vec4 color) {
  gl_Position = end + vec4(shift / pixels * 2.0 * end.w, 0.0, 0.0);
  tint = color;
  EmitVertex();
}
void main() {
  vec4 a = gl_in[0].gl_Position, b = gl_in[1].gl_Position;
  vec4 sum = a + b;
  if (any(isnan(sum)) || any(isinf(sum))) return;
  // What is before the near plane has no place on the window.
  float before_a = a.z + a.w, before_b = b.z + b.w;
  if (before_a < 0.0 && before_b < 0.0) return;
  vec4 from = before_a < 0.0 ? mix(a, b, before_a / (before_a - before_b)) : a;
  vec4 to = before_b < 0.0 ? mix(b, a, before_b / (before_b - before_a)) : b;
  vec2 way = (to.xy / to.w - from.xy / from.w) * pixels;
  vec2 along = length(way) > 0.0 ? normalize(way) : vec2(1.0, 0.0);
  along *= 0.5 * size;
  vec2 across = vec2(-along.y, along.x);
  emit(from, -along + across, shade[0]);
  emit(from, -along - across, shade[0]);
  emit(to, along + across, shade[1]);
  emit(to, along - across, shade[1]);
  EndPrimitive();
}
)";

constexpr const char* plain_fragment = R"(#version 330 core
in vec4 tint;
out vec4 pixel;
void main() { pixel = tint; }
)";

constexpr const char* picture_vertex = R"(#version 330 core
uniform vec4 rectangle;
out vec2 place;
void main() {
  place = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  gl_Position = vec4(mix(rectangle.xy, rectangle.zw, place), 0.0, 1.0);
}
)";

constexpr const char* picture_fragment = R"(#version 330 core
uniform sampler2D picture;
in vec2 place;
out vec4 pixel;
void main() { pixel = texture(picture, place); }
)";

/// What the driver says about a shader or a program. `read`: OpenGL's function that tells it.
template <class Read>
std::string log_of(Read* read, GLuint id) {
  std::string log(4096, '\0');
  GLsizei length = 0;
  read(id, static_cast<GLsizei>(log.size()), &length, log.data());
  log.resize(static_cast<std::size_t>(length));
  return log;
}

GLuint compile(GLenum stage, const char* text) {
  const OpenGl& gl = opengl();
  const GLuint shader = gl.create_shader(stage);
  gl.shader_source(shader, 1, &text, nullptr);
  gl.compile_shader(shader);
  GLint good = 0;
  gl.get_shader(shader, GL_COMPILE_STATUS, &good);
  if (good != 0) return shader;
  throw Error(ErrorKind::compile, "[window] OpenGL's driver refuses a shader of gpulua's: {}",
              log_of(gl.get_shader_info_log, shader));
}

/// New pixels lie over the old ones, by their opacity; with `by_depth` only nearer ones do.
void set_mixing(bool by_depth) {
  const OpenGl& gl = opengl();
  gl.enable(GL_BLEND);
  gl.blend_func_separate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
  by_depth ? gl.enable(GL_DEPTH_TEST) : gl.disable(GL_DEPTH_TEST);
}

void set_attribute(GLuint index, const VertexData& data) {
  const OpenGl& gl = opengl();
  if (data.kind == VertexData::Kind::none) return gl.disable_vertex_attrib_array(index);
  const bool is_bytes = data.kind == VertexData::Kind::uint8;
  gl.bind_buffer(GL_ARRAY_BUFFER, data.buffer);
  gl.vertex_attrib_pointer(index, data.components, is_bytes ? GL_UNSIGNED_BYTE : GL_FLOAT,
                           is_bytes ? GL_TRUE : GL_FALSE, 0, nullptr);
  gl.enable_vertex_attrib_array(index);
  gl.bind_buffer(GL_ARRAY_BUFFER, 0);
}

}  // namespace

Painter::Program Painter::build(const char* vertex, const char* geometry, const char* fragment) {
  const OpenGl& gl = opengl();
  Program program;
  program.id = gl.create_program();
  for (const auto& [stage, text] : {std::pair{GL_VERTEX_SHADER, vertex}, std::pair{GL_GEOMETRY_SHADER, geometry},
                                    std::pair{GL_FRAGMENT_SHADER, fragment}}) {
    if (text == nullptr) continue;
    const GLuint shader = compile(static_cast<GLenum>(stage), text);
    gl.attach_shader(program.id, shader);
    gl.delete_shader(shader);
  }
  gl.link_program(program.id);
  GLint good = 0;
  gl.get_program(program.id, GL_LINK_STATUS, &good);
  if (good == 0)
    throw Error(ErrorKind::compile, "[window] OpenGL's driver refuses a program of gpulua's: {}",
                log_of(gl.get_program_info_log, program.id));
  program.view = gl.get_uniform_location(program.id, "view");
  program.size = gl.get_uniform_location(program.id, "size");
  program.pixels = gl.get_uniform_location(program.id, "pixels");
  program.rectangle = gl.get_uniform_location(program.id, "rectangle");
  return program;
}

void Painter::open() {
  if (is_open_) return;
  points_ = build(point_vertex, nullptr, point_fragment);
  lines_ = build(line_vertex, line_geometry, plain_fragment);
  picture_ = build(picture_vertex, nullptr, picture_fragment);
  opengl().gen_vertex_arrays(1, &vertex_array_);
  opengl().gen_textures(1, &texture_);
  is_open_ = true;
}

void Painter::clear(const std::array<float, 4>& color) {
  opengl().clear_color(color[0], color[1], color[2], color[3]);
  opengl().clear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
}

float Painter::most_size() {
  GLfloat range[2] = {1, 1};
  opengl().get_float(GL_POINT_SIZE_RANGE, range);
  return range[1];
}

void Painter::set_vertices(const Program& program, const Vertices& vertices) {
  const OpenGl& gl = opengl();
  gl.use_program(program.id);
  gl.bind_vertex_array(vertex_array_);
  set_attribute(0, vertices.places);
  set_attribute(1, vertices.colors);
  const std::array<float, 4>& color = vertices.color;
  if (vertices.colors.kind == VertexData::Kind::none) gl.vertex_attrib(1, color[0], color[1], color[2], color[3]);
  gl.uniform_matrix(program.view, 1, GL_FALSE, vertices.view.data());
  set_mixing(vertices.has_depth);
}

void Painter::draw_points(const Vertices& vertices, float size) {
  open();
  set_vertices(points_, vertices);
  opengl().enable(GL_PROGRAM_POINT_SIZE);
  opengl().uniform_1f(points_.size, size);
  opengl().draw_arrays(GL_POINTS, 0, static_cast<GLsizei>(vertices.count));
  opengl().bind_vertex_array(0);
}

void Painter::draw_lines(const Vertices& vertices, float width, Screen::Size pixels) {
  open();
  set_vertices(lines_, vertices);
  opengl().uniform_1f(lines_.size, width);
  opengl().uniform_2f(lines_.pixels, static_cast<float>(pixels.width), static_cast<float>(pixels.height));
  opengl().draw_arrays(GL_LINE_STRIP, 0, static_cast<GLsizei>(vertices.count));
  opengl().bind_vertex_array(0);
}

void Painter::draw_picture(const Picture& picture) {
  open();
  const OpenGl& gl = opengl();
  gl.active_texture(GL_TEXTURE0);
  gl.bind_texture(GL_TEXTURE_2D, texture_);
  if (picture.width != texture_width_ || picture.height != texture_height_) {
    GLint most = 0;
    gl.get_integer(GL_MAX_TEXTURE_SIZE, &most);
    if (picture.width > most || picture.height > most)
      throw Error("[window] expected a picture of at most {} rows and columns, as OpenGL takes, got {} and {}", most,
                  picture.height, picture.width);
    gl.tex_image_2d(GL_TEXTURE_2D, 0, GL_RGBA8, picture.width, picture.height, 0, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
    gl.tex_parameter(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    gl.tex_parameter(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    texture_width_ = picture.width;
    texture_height_ = picture.height;
  }
  gl.bind_buffer(GL_PIXEL_UNPACK_BUFFER, picture.buffer);
  gl.pixel_store(GL_UNPACK_ALIGNMENT, 1);
  gl.tex_sub_image_2d(GL_TEXTURE_2D, 0, 0, 0, picture.width, picture.height, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
  gl.bind_buffer(GL_PIXEL_UNPACK_BUFFER, 0);
  const GLint filter = picture.smooth ? GL_LINEAR : GL_NEAREST;
  gl.tex_parameter(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, filter);
  gl.tex_parameter(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, filter);

  gl.use_program(picture_.id);
  gl.bind_vertex_array(vertex_array_);
  gl.disable_vertex_attrib_array(0);
  gl.disable_vertex_attrib_array(1);
  gl.uniform_4f(picture_.rectangle, picture.rectangle[0], picture.rectangle[1], picture.rectangle[2],
                picture.rectangle[3]);
  set_mixing(false);
  gl.draw_arrays(GL_TRIANGLE_STRIP, 0, 4);
  gl.bind_vertex_array(0);
}

}  // namespace gpulua
