// libbench_frames.so: the C++ program that frames.lua is measured against, in the same process. Particles in a buffer
// that CUDA's driver and OpenGL share, drawn into a picture of EGL's without a display.

#define EGL_NO_X11
#define EGL_EGLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/glcorearb.h>

#include <vector>

#include "bench/launch/driver.h"

namespace {

constexpr int extent = 900;
constexpr unsigned block = 256;

void* egl_symbol(const char* name) {
  static void* const library = dlopen("libEGL.so.1", RTLD_NOW);
  void* const address = library ? dlsym(library, name) : nullptr;
  if (address) return address;
  std::fprintf(stderr, "libEGL.so.1 has no %s\n", name);
  std::exit(1);
}

/// An extension of EGL's, or a function of OpenGL's.
template <class Function>
Function procedure(const char* name) {
  static const auto find = reinterpret_cast<decltype(&eglGetProcAddress)>(egl_symbol("eglGetProcAddress"));
  if (const auto address = find(name)) return reinterpret_cast<Function>(address);
  std::fprintf(stderr, "EGL finds no %s\n", name);
  std::exit(1);
}

#define EGL(name) reinterpret_cast<decltype(&name)>(egl_symbol(#name))
#define EXTENSION(name) procedure<decltype(&name)>(#name)
#define GL(name, type) const type name = procedure<type>("gl" #name)

void check(bool is_good, const char* what) {
  if (is_good) return;
  std::fprintf(stderr, "%s failed\n", what);
  std::exit(1);
}

/// A context of OpenGL 3.3 on the GPU that is CUDA's device 0. It is current as long as a scope of `Current` lasts.
class Context {
 public:
  Context() {
    EGLDeviceEXT devices[64];
    EGLint count = 0;
    check(EXTENSION(eglQueryDevicesEXT)(64, devices, &count) == EGL_TRUE, "eglQueryDevicesEXT");
    for (EGLint i = 0; i < count && display_ == EGL_NO_DISPLAY; ++i) {
      EGLAttrib ordinal = -1;
      if (EXTENSION(eglQueryDeviceAttribEXT)(devices[i], EGL_CUDA_DEVICE_NV, &ordinal) == EGL_TRUE && ordinal == 0)
        display_ = EXTENSION(eglGetPlatformDisplayEXT)(EGL_PLATFORM_DEVICE_EXT, devices[i], nullptr);
    }
    check(display_ != EGL_NO_DISPLAY, "the search for the EGL device of CUDA's device 0");
    check(EGL(eglInitialize)(display_, nullptr, nullptr) == EGL_TRUE, "eglInitialize");
    const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
    EGLConfig config = nullptr;
    check(EGL(eglChooseConfig)(display_, wanted, &config, 1, &count) == EGL_TRUE && count == 1, "eglChooseConfig");
    check(EGL(eglBindAPI)(EGL_OPENGL_API) == EGL_TRUE, "eglBindAPI");
    const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 3, EGL_NONE};
    context_ = EGL(eglCreateContext)(display_, config, EGL_NO_CONTEXT, version);
    check(context_ != EGL_NO_CONTEXT, "eglCreateContext");
  }

  class Current {
   public:
    explicit Current(const Context& context) : display_(context.display_) {
      const EGLBoolean made = EGL(eglMakeCurrent)(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context.context_);
      check(made == EGL_TRUE, "eglMakeCurrent");
    }
    ~Current() { EGL(eglMakeCurrent)(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT); }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

   private:
    EGLDisplay display_;
  };

 private:
  EGLDisplay display_ = EGL_NO_DISPLAY;
  EGLContext context_ = EGL_NO_CONTEXT;
};

/// The particles: their buffer, the kernel, and the picture that they are drawn into. Made while the context is
/// current.
class Particles {
 public:
  Particles(const char* ptx, int count) : count_(count) {
    using bench::check;
    CUmodule module = nullptr;
    check(DRIVER(cuModuleLoadData)(&module, ptx), "cuModuleLoadData");
    check(DRIVER(cuModuleGetFunction)(&kernel_, module, "place_particles"), "cuModuleGetFunction");
    check(DRIVER(cuStreamCreate)(&stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    make_picture();
    make_program();
    GLuint vertices = 0, buffer = 0;
    GenVertexArrays(1, &vertices);
    BindVertexArray(vertices);
    GenBuffers(1, &buffer);
    BindBuffer(GL_ARRAY_BUFFER, buffer);
    BufferData(GL_ARRAY_BUFFER, GLsizeiptr{8} * count, nullptr, GL_DYNAMIC_DRAW);
    VertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, nullptr);
    EnableVertexAttribArray(0);
    // The driver's header of these functions wants OpenGL's old one.
    using Register = CUresult (*)(CUgraphicsResource*, GLuint, unsigned);
    check(bench::symbol<Register>("cuGraphicsGLRegisterBuffer")(&resource_, buffer, 0), "cuGraphicsGLRegisterBuffer");
  }

  void draw_frame(float time) {
    using bench::check;
    static const auto map = DRIVER(cuGraphicsMapResources);
    static const auto address_of = DRIVER(cuGraphicsResourceGetMappedPointer_v2);
    static const auto launch = DRIVER(cuLaunchKernel);
    static const auto unmap = DRIVER(cuGraphicsUnmapResources);
    CUdeviceptr positions = 0;
    std::size_t bytes = 0;
    check(map(1, &resource_, stream_), "cuGraphicsMapResources");
    check(address_of(&positions, &bytes, resource_), "cuGraphicsResourceGetMappedPointer");
    void* arguments[] = {&positions, &time, &count_};
    const unsigned blocks = (static_cast<unsigned>(count_) + block - 1) / block;
    check(launch(kernel_, blocks, 1, 1, block, 1, 1, 0, stream_, arguments, nullptr), "cuLaunchKernel");
    check(unmap(1, &resource_, stream_), "cuGraphicsUnmapResources");
    Clear(GL_COLOR_BUFFER_BIT);
    DrawArrays(GL_POINTS, 0, count_);
    Finish();
  }

  /// Whether some pixels are the points' and some are not.
  bool has_drawn() const {
    std::vector<unsigned> pixels(std::size_t{extent} * extent);
    ReadPixels(0, 0, extent, extent, GL_RGBA, GL_UNSIGNED_BYTE, pixels.data());
    std::size_t lit = 0;
    for (unsigned pixel : pixels) lit += (pixel & 0xffffff) != 0;
    return lit > 0 && lit < pixels.size();
  }

 private:
  void make_picture() const {
    GLuint framebuffer = 0, colors = 0;
    GenFramebuffers(1, &framebuffer);
    GenRenderbuffers(1, &colors);
    BindRenderbuffer(GL_RENDERBUFFER, colors);
    RenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, extent, extent);
    BindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    FramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, colors);
    check(CheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE, "the framebuffer");
    Viewport(0, 0, extent, extent);
    ClearColor(0, 0, 0, 1);
    Enable(GL_BLEND);
    BlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
  }
  void make_program() const {
    const GLuint program = CreateProgram();
    const auto add = [&](GLenum kind, const char* text) {
      const GLuint shader = CreateShader(kind);
      ShaderSource(shader, 1, &text, nullptr);
      CompileShader(shader);
      AttachShader(program, shader);
    };
    add(GL_VERTEX_SHADER,
        "#version 330\nlayout(location = 0) in vec2 at; void main() { gl_Position = vec4(at, 0, 1); }");
    add(GL_FRAGMENT_SHADER, "#version 330\nout vec4 color; void main() { color = vec4(0.6, 0.8, 1, 0.35); }");
    LinkProgram(program);
    UseProgram(program);
  }

  GL(AttachShader, PFNGLATTACHSHADERPROC);
  GL(BindBuffer, PFNGLBINDBUFFERPROC);
  GL(BindFramebuffer, PFNGLBINDFRAMEBUFFERPROC);
  GL(BindRenderbuffer, PFNGLBINDRENDERBUFFERPROC);
  GL(BindVertexArray, PFNGLBINDVERTEXARRAYPROC);
  GL(BlendFunc, PFNGLBLENDFUNCPROC);
  GL(BufferData, PFNGLBUFFERDATAPROC);
  GL(CheckFramebufferStatus, PFNGLCHECKFRAMEBUFFERSTATUSPROC);
  GL(Clear, PFNGLCLEARPROC);
  GL(ClearColor, PFNGLCLEARCOLORPROC);
  GL(CompileShader, PFNGLCOMPILESHADERPROC);
  GL(CreateProgram, PFNGLCREATEPROGRAMPROC);
  GL(CreateShader, PFNGLCREATESHADERPROC);
  GL(DrawArrays, PFNGLDRAWARRAYSPROC);
  GL(Enable, PFNGLENABLEPROC);
  GL(EnableVertexAttribArray, PFNGLENABLEVERTEXATTRIBARRAYPROC);
  GL(Finish, PFNGLFINISHPROC);
  GL(FramebufferRenderbuffer, PFNGLFRAMEBUFFERRENDERBUFFERPROC);
  GL(GenBuffers, PFNGLGENBUFFERSPROC);
  GL(GenFramebuffers, PFNGLGENFRAMEBUFFERSPROC);
  GL(GenRenderbuffers, PFNGLGENRENDERBUFFERSPROC);
  GL(GenVertexArrays, PFNGLGENVERTEXARRAYSPROC);
  GL(LinkProgram, PFNGLLINKPROGRAMPROC);
  GL(ReadPixels, PFNGLREADPIXELSPROC);
  GL(RenderbufferStorage, PFNGLRENDERBUFFERSTORAGEPROC);
  GL(ShaderSource, PFNGLSHADERSOURCEPROC);
  GL(UseProgram, PFNGLUSEPROGRAMPROC);
  GL(VertexAttribPointer, PFNGLVERTEXATTRIBPOINTERPROC);
  GL(Viewport, PFNGLVIEWPORTPROC);

  int count_;
  CUfunction kernel_ = nullptr;
  CUstream stream_ = nullptr;
  CUgraphicsResource resource_ = nullptr;
};

}  // namespace

/// The time of one of `frames` frames, in milliseconds. The first call decides on the kernel and the number of
/// particles.
extern "C" __attribute__((visibility("default"))) double bench_frames(const char* ptx, int particles, int frames) {
  bench::start_device();
  static const Context context;
  const Context::Current current(context);
  static Particles cloud(ptx, particles);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < frames; ++i) cloud.draw_frame(static_cast<float>(i) / 60);
  const double time = bench::microseconds_since(start) / 1e3 / frames;
  check(cloud.has_drawn(), "the drawing of particles");
  return time;
}
