// A program's OpenGL context, which is current in one thread or another. EGL makes it without a display; where the
// machine has none, nothing is tested.

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/glcorearb.h>
#include <dlfcn.h>

#include <cstdlib>
#include <gpulua/gpulua.hpp>
#include <memory>
#include <string>
#include <thread>

#include "tests/catch.h"

namespace {

template <class Function>
Function find(const char* name) {
  static void* const library = ::dlopen("libEGL.so.1", RTLD_NOW | RTLD_GLOBAL);
  return library == nullptr ? nullptr : reinterpret_cast<Function>(::dlsym(library, name));
}
#define EGL_FUNCTION(name) static const auto name = find<decltype(&::name)>(#name)

/// A context without a surface; null where there is none.
class ProgramContext {
 public:
  static std::unique_ptr<ProgramContext> make() {
    EGL_FUNCTION(eglGetProcAddress);
    if (eglGetProcAddress == nullptr) return nullptr;
    const auto get_display =
        reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(eglGetProcAddress("eglGetPlatformDisplayEXT"));
    const auto query = reinterpret_cast<PFNEGLQUERYDEVICESEXTPROC>(eglGetProcAddress("eglQueryDevicesEXT"));
    if (get_display == nullptr) return nullptr;
    // A GPU's comes first.
    EGLDeviceEXT devices[16];
    EGLint count = 0;
    if (query != nullptr && query(16, devices, &count) == EGL_TRUE)
      for (EGLint i = 0; i < count; ++i)
        if (auto context = make_on(get_display(EGL_PLATFORM_DEVICE_EXT, devices[i], nullptr))) return context;
    return make_on(get_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr));
  }
  ~ProgramContext() {
    EGL_FUNCTION(eglDestroyContext);
    eglDestroyContext(display_, context_);
  }
  /// In the calling thread.
  bool make_current() const { return bind(context_); }
  void release() const { bind(EGL_NO_CONTEXT); }

 private:
  ProgramContext(EGLDisplay display, EGLContext context) : display_(display), context_(context) {}
  static std::unique_ptr<ProgramContext> make_on(EGLDisplay display) {
    EGL_FUNCTION(eglInitialize);
    EGL_FUNCTION(eglBindAPI);
    EGL_FUNCTION(eglCreateContext);
    if (display == EGL_NO_DISPLAY || eglInitialize(display, nullptr, nullptr) == EGL_FALSE) return nullptr;
    eglBindAPI(EGL_OPENGL_API);
    const EGLint attributes[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 3, EGL_NONE};
    const EGLContext context = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, attributes);
    if (context == EGL_NO_CONTEXT) return nullptr;
    return std::unique_ptr<ProgramContext>(new ProgramContext(display, context));
  }
  bool bind(EGLContext context) const {
    EGL_FUNCTION(eglMakeCurrent);
    EGL_FUNCTION(eglBindAPI);
    eglBindAPI(EGL_OPENGL_API);
    return eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context) == EGL_TRUE;
  }

  EGLDisplay display_;
  EGLContext context_;
};

std::string error_of(gpulua::State& state, const char* text) {
  try {
    state.run(text);
  } catch (const gpulua::Error& error) {
    return error.what();
  }
  return "no error";
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

/// The context of the tests; null where the machine has none.
ProgramContext* program_context() {
  static const std::unique_ptr<ProgramContext> context = ProgramContext::make();
  return context.get();
}

}  // namespace

TEST_CASE("a buffer of a context that is current in another thread is a named error, and works again afterwards") {
  const ProgramContext* const context = program_context();
  if (context == nullptr) return;
  REQUIRE(context->make_current());
  gpulua::State state;
  state.run(R"(
    buffer = gpu.gl.buffer(4, "float32")
    function fill(value) buffer:with(function(x) x:fill_(value) end) end
    function sum() return buffer:with(function(x) return x:sum():item() end) end
    fill(2)
    assert(sum() == 8))");
  context->release();

  std::string without, with_none, released;
  CHECK(contains(error_of(state, "fill(3)"), "expected the OpenGL context in which the buffer was made"));
  std::thread([&] {
    with_none = error_of(state, "fill(3)");
    // Now the context is this thread's, and so is the state.
    if (context->make_current()) without = error_of(state, "fill(4) assert(sum() == 16)");
    context->release();
  }).join();
  CHECK(contains(with_none, "to be current in this thread, got none: make it current before the call"));
  CHECK(without == "no error");

  // Another thread holds the context all the while.
  REQUIRE(context->make_current());
  std::thread([&] {
    CHECK_FALSE(context->make_current());
    with_none = error_of(state, "fill(5)");
    released = error_of(state, "buffer:release() collectgarbage()");
  }).join();
  CHECK(contains(with_none, "to be current in this thread, got none"));
  INFO(released);
  CHECK((released == "no error" || contains(released, "current in this thread")));
  context->release();
}

TEST_CASE("a window's context, taken by another thread of the program, is a named error, and the state goes on") {
  if (program_context() == nullptr) return;
  EGL_FUNCTION(eglGetCurrentContext);
  EGL_FUNCTION(eglGetCurrentDisplay);
  EGL_FUNCTION(eglMakeCurrent);
  EGL_FUNCTION(eglBindAPI);
  gpulua::State state;
  EGLContext context = EGL_NO_CONTEXT;
  EGLDisplay display = EGL_NO_DISPLAY;
  state.bind<void()>("look", [&] {
    context = eglGetCurrentContext();
    display = eglGetCurrentDisplay();
  });
  state.run(R"(
    window = gpu.window{width = 16, height = 16, headless = true}
    window:with(look)
    function frame() window:clear {1, 1, 1} window:present() return window:read():sum():item() end
    all = frame())");
  REQUIRE(context != EGL_NO_CONTEXT);
  std::string message;
  std::thread([&] {
    eglBindAPI(EGL_OPENGL_API);
    REQUIRE(eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context) == EGL_TRUE);
    std::thread([&] { message = error_of(state, "frame()"); }).join();
    eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  }).join();
  CHECK(contains(message, "it is current in another thread, or it is gone"));
  CHECK(error_of(state, "assert(frame() == all)") == "no error");
  // A state that moves to another thread takes its window along.
  std::thread([&] { message = error_of(state, "assert(frame() == all) window:close()"); }).join();
  CHECK(message == "no error");
}
