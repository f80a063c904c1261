// A program that owns its window, its OpenGL context and its vertex buffer. In each frame a script computes the
// positions of the particles in that buffer, and the program draws them: nothing is copied. Usage: particles_window
// [frames] [particles]. Without a number of frames it runs until the window is closed. The GPU that computes is the one
// that draws; GPULUA_DEVICE=cpu has the processor compute.
#define GLFW_INCLUDE_NONE
#include <GL/glcorearb.h>
#include <GLFW/glfw3.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <gpulua/gpulua.hpp>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

/// A window with an OpenGL 3.3 context, which is current as long as it lives.
class ProgramWindow {
 public:
  ProgramWindow(int width, int height, const char* title) {
    if (glfwInit() == GLFW_FALSE) fail("no display");
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    window_ = glfwCreateWindow(width, height, title, nullptr, nullptr);
    if (window_ == nullptr) fail("no window with OpenGL 3.3");
    glfwMakeContextCurrent(window_);
  }
  ~ProgramWindow() { glfwTerminate(); }
  ProgramWindow(const ProgramWindow&) = delete;
  ProgramWindow& operator=(const ProgramWindow&) = delete;

  GLFWwindow* get() const { return window_; }

 private:
  [[noreturn]] static void fail(const char* what) {
    const char* why = nullptr;
    glfwGetError(&why);
    const std::string text = std::string(what) + ": " + (why == nullptr ? "GLFW says nothing more" : why);
    glfwTerminate();
    throw std::runtime_error(text);
  }

  GLFWwindow* window_ = nullptr;
};

/// The address of a function of OpenGL's in the current context.
template <class Function>
Function find(const char* name) {
  const auto function = reinterpret_cast<Function>(glfwGetProcAddress(name));
  if (function == nullptr) throw std::runtime_error(std::string("OpenGL has no ") + name);
  return function;
}
#define GL(name, type) const type name = find<type>("gl" #name)

/// The particles as the program sees them: a vertex buffer, and how it is drawn.
class Cloud {
 public:
  explicit Cloud(int particles) : particles_(particles) {
    GenVertexArrays(1, &vertices_);
    BindVertexArray(vertices_);
    GenBuffers(1, &positions_);
    BindBuffer(GL_ARRAY_BUFFER, positions_);
    BufferData(GL_ARRAY_BUFFER, 2 * sizeof(float) * static_cast<std::size_t>(particles), nullptr, GL_DYNAMIC_DRAW);
    VertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, nullptr);
    EnableVertexAttribArray(0);
    program_ = CreateProgram();
    compile(GL_VERTEX_SHADER,
            "#version 330\nlayout(location = 0) in vec2 at; void main() { gl_Position = vec4(at, 0, 1); }");
    compile(GL_FRAGMENT_SHADER, "#version 330\nout vec4 color; void main() { color = vec4(0.6, 0.8, 1, 1); }");
    LinkProgram(program_);
    UseProgram(program_);
  }
  ~Cloud() { DeleteBuffers(1, &positions_); }
  Cloud(const Cloud&) = delete;
  Cloud& operator=(const Cloud&) = delete;

  GLuint buffer() const { return positions_; }

  void draw(int width, int height) const {
    Viewport(0, 0, width, height);
    ClearColor(0, 0, 0, 1);
    Clear(GL_COLOR_BUFFER_BIT);
    DrawArrays(GL_POINTS, 0, particles_);
  }
  std::vector<float> read_positions() const {
    std::vector<float> positions(2 * static_cast<std::size_t>(particles_));
    GetBufferSubData(GL_ARRAY_BUFFER, 0, static_cast<GLsizeiptr>(positions.size() * sizeof(float)), positions.data());
    return positions;
  }
  /// How many pixels of what is drawn are not black.
  std::size_t count_lit(int width, int height) const {
    std::vector<unsigned> pixels(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    ReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, pixels.data());
    return static_cast<std::size_t>(
        std::count_if(pixels.begin(), pixels.end(), [](unsigned pixel) { return (pixel & 0xffffff) != 0; }));
  }

 private:
  void compile(GLenum kind, const char* source) const {
    const GLuint shader = CreateShader(kind);
    ShaderSource(shader, 1, &source, nullptr);
    CompileShader(shader);
    AttachShader(program_, shader);
  }

  GL(AttachShader, PFNGLATTACHSHADERPROC);
  GL(BindBuffer, PFNGLBINDBUFFERPROC);
  GL(BindVertexArray, PFNGLBINDVERTEXARRAYPROC);
  GL(BufferData, PFNGLBUFFERDATAPROC);
  GL(Clear, PFNGLCLEARPROC);
  GL(ClearColor, PFNGLCLEARCOLORPROC);
  GL(CompileShader, PFNGLCOMPILESHADERPROC);
  GL(CreateProgram, PFNGLCREATEPROGRAMPROC);
  GL(CreateShader, PFNGLCREATESHADERPROC);
  GL(DeleteBuffers, PFNGLDELETEBUFFERSPROC);
  GL(DrawArrays, PFNGLDRAWARRAYSPROC);
  GL(EnableVertexAttribArray, PFNGLENABLEVERTEXATTRIBARRAYPROC);
  GL(GenBuffers, PFNGLGENBUFFERSPROC);
  GL(GenVertexArrays, PFNGLGENVERTEXARRAYSPROC);
  GL(GetBufferSubData, PFNGLGETBUFFERSUBDATAPROC);
  GL(LinkProgram, PFNGLLINKPROGRAMPROC);
  GL(ReadPixels, PFNGLREADPIXELSPROC);
  GL(ShaderSource, PFNGLSHADERSOURCEPROC);
  GL(UseProgram, PFNGLUSEPROGRAMPROC);
  GL(VertexAttribPointer, PFNGLVERTEXATTRIBPOINTERPROC);
  GL(Viewport, PFNGLVIEWPORTPROC);

  int particles_;
  GLuint vertices_ = 0, positions_ = 0, program_ = 0;
};

std::string read_file(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// How far the farthest particle is from where whirl.lua's formula has it, reckoned here in doubles.
double error_at(double time, const std::vector<float>& positions) {
  const std::size_t particles = positions.size() / 2;
  double error = 0;
  for (std::size_t i = 0; i < particles; ++i) {
    const double number = static_cast<double>(i) + 0.5,
                 radius = 0.9 * std::sqrt(number / static_cast<double>(particles));
    const double angle = number * std::acos(-1.0) * (3 - std::sqrt(5.0)) + time * 0.3 / (0.1 + radius);
    error = std::max({error, std::abs(positions[2 * i] - radius * std::cos(angle)),
                      std::abs(positions[2 * i + 1] - radius * std::sin(angle))});
  }
  return error;
}

int run(int frames, int particles) {
  const ProgramWindow window(700, 700, "particles");
  const Cloud cloud(particles);
  gpulua::State state;
  state.run(read_file(WHIRL), "whirl.lua");
  state.get<void(GLuint, int)>("attach")(cloud.buffer(), particles);
  const auto move = state.get<void(double)>("move");

  int width = 0, height = 0, frame = 0;
  double time = 0;
  for (; frame != frames && glfwWindowShouldClose(window.get()) == GLFW_FALSE; ++frame) {
    time = frame / 60.0;
    move(time);
    glfwGetFramebufferSize(window.get(), &width, &height);
    cloud.draw(width, height);
    if (frame + 1 != frames) glfwSwapBuffers(window.get());
    glfwPollEvents();
  }
  const std::size_t lit = cloud.count_lit(width, height);
  const double error = error_at(time, cloud.read_positions());
  state.get<void()>("detach")();
  std::printf("%d particles, %d frames: within %.5f of where they should be, on %zu pixels\n", particles, frame, error,
              lit);
  return error < 0.001 && lit > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 ? std::max(1, std::atoi(argv[1])) : -1, argc > 2 ? std::max(1, std::atoi(argv[2])) : 10000);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
