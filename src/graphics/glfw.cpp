#include "src/graphics/glfw.h"

#include <bitset>
#include <string>
#include <thread>
#include <utility>

#include "src/base/dynamic_library.h"
#include "src/base/error.h"
#include "src/graphics/egl.h"

#define GLFW_INCLUDE_NONE
#define GLFW_EXPOSE_NATIVE_EGL
#include <GLFW/glfw3.h>
#include <GLFW/glfw3native.h>

#define GPULUA_GLFW_FUNCTIONS(X)                       \
  X(create_window, glfwCreateWindow)                   \
  X(default_window_hints, glfwDefaultWindowHints)      \
  X(destroy_window, glfwDestroyWindow)                 \
  X(get_cursor_pos, glfwGetCursorPos)                  \
  X(get_egl_context, glfwGetEGLContext)                \
  X(get_egl_display, glfwGetEGLDisplay)                \
  X(get_egl_surface, glfwGetEGLSurface)                \
  X(get_error, glfwGetError)                           \
  X(get_framebuffer_size, glfwGetFramebufferSize)      \
  X(get_key, glfwGetKey)                               \
  X(get_mouse_button, glfwGetMouseButton)              \
  X(get_window_size, glfwGetWindowSize)                \
  X(get_window_user_pointer, glfwGetWindowUserPointer) \
  X(init, glfwInit)                                    \
  X(poll_events, glfwPollEvents)                       \
  X(set_key_callback, glfwSetKeyCallback)              \
  X(set_scroll_callback, glfwSetScrollCallback)        \
  X(set_window_size, glfwSetWindowSize)                \
  X(set_window_user_pointer, glfwSetWindowUserPointer) \
  X(wait_events_timeout, glfwWaitEventsTimeout)        \
  X(window_hint, glfwWindowHint)                       \
  X(window_should_close, glfwWindowShouldClose)

namespace gpulua {
namespace {

struct Glfw {
  Glfw() {
    const OptionalLibrary library("window", "windows on a display need GLFW", {"libglfw.so.3"},
                                  "apt-get install libglfw3; gpu.window{headless = true} needs no display");
#define GPULUA_GLFW_LOAD(member, function) library.find(member, #function);
    GPULUA_GLFW_FUNCTIONS(GPULUA_GLFW_LOAD)
#undef GPULUA_GLFW_LOAD
  }

#define GPULUA_GLFW_MEMBER(member, function) decltype(&::function) member;
  GPULUA_GLFW_FUNCTIONS(GPULUA_GLFW_MEMBER)
#undef GPULUA_GLFW_MEMBER

  /// What went wrong last.
  std::string error() const {
    const char* text = nullptr;
    get_error(&text);
    return text != nullptr ? text : "GLFW does not say why";
  }
};

const Glfw& glfw() {
  static const Glfw library;
  return library;
}

/// GLFW has one state for a process, and no locks.
void check_thread() {
  static const std::thread::id first = std::this_thread::get_id();
  if (first != std::this_thread::get_id())
    throw Error("[window] expected the windows of a display in one thread of the process, got a second thread");
}

class GlfwScreen final : public Screen {
 public:
  GlfwScreen(GLFWwindow* window, bool vsync) : window_(window) {
    const Glfw& library = glfw();
    library.set_window_user_pointer(window_, this);
    library.set_key_callback(window_, [](GLFWwindow* on, int key, int, int action, int) {
      if (action == GLFW_PRESS && key >= 0) of(on).arriving_.pressed.set(static_cast<std::size_t>(key));
    });
    library.set_scroll_callback(window_, [](GLFWwindow* on, double, double y) { of(on).arriving_.wheel += y; });
    const auto surface = reinterpret_cast<std::uintptr_t>(library.get_egl_surface(window_));
    binding_ = {GlBinding::System::egl, library.get_egl_display(), surface, surface, library.get_egl_context(window_)};
    const CurrentContext current(binding_, "window");
    egl().swap_interval(binding_.display, vsync ? 1 : 0);
  }
  ~GlfwScreen() override { glfw().destroy_window(window_); }

  const GlBinding& binding() const override { return binding_; }
  bool is_shown() const override { return true; }

  bool poll() override {
    glfw().poll_events();
    seen_ = std::exchange(arriving_, {});
    return glfw().window_should_close(window_) == 0;
  }
  void wait(double seconds) override { glfw().wait_events_timeout(seconds); }
  Size size() const override {
    Size size{};
    glfw().get_framebuffer_size(window_, &size.width, &size.height);
    return size;
  }
  void resize(Size size) override {
    const auto [x, y] = pixels_of_unit();
    glfw().set_window_size(window_, static_cast<int>(size.width / x + 0.5), static_cast<int>(size.height / y + 0.5));
    glfw().poll_events();
  }
  void present() override { egl().swap_buffers(binding_.display, reinterpret_cast<EGLSurface>(binding_.draw)); }

  bool is_down(int key) const override { return glfw().get_key(window_, key) == GLFW_PRESS; }
  bool was_pressed(int key) const override { return seen_.pressed.test(static_cast<std::size_t>(key)); }
  Mouse mouse() const override {
    const auto is_held = [&](int button) { return glfw().get_mouse_button(window_, button) == GLFW_PRESS; };
    Mouse mouse;
    glfw().get_cursor_pos(window_, &mouse.x, &mouse.y);
    const auto [x, y] = pixels_of_unit();
    mouse.x *= x;
    mouse.y *= y;
    mouse.left = is_held(GLFW_MOUSE_BUTTON_LEFT);
    mouse.right = is_held(GLFW_MOUSE_BUTTON_RIGHT);
    mouse.middle = is_held(GLFW_MOUSE_BUTTON_MIDDLE);
    mouse.wheel = seen_.wheel;
    return mouse;
  }

 private:
  struct Events {
    std::bitset<GLFW_KEY_LAST + 1> pressed;
    double wheel = 0;
  };

  static GlfwScreen& of(GLFWwindow* window) {
    return *static_cast<GlfwScreen*>(glfw().get_window_user_pointer(window));
  }
  /// Displays of high density have several pixels for a unit of a window's size.
  std::pair<double, double> pixels_of_unit() const {
    int width = 0, height = 0;
    glfw().get_window_size(window_, &width, &height);
    const Size pixels = size();
    if (width == 0 || height == 0) return {1, 1};  // iconified
    return {static_cast<double>(pixels.width) / width, static_cast<double>(pixels.height) / height};
  }

  GLFWwindow* window_;
  GlBinding binding_;
  Events arriving_, seen_;
};

}  // namespace

std::unique_ptr<Screen> open_glfw(const WindowOptions& options) {
  const Glfw& library = glfw();
  egl();  // before a window comes up
  check_thread();
  if (library.init() == GLFW_FALSE)
    throw Error(ErrorKind::unavailable,
                "[window] GLFW finds no display ({}): expected the variable DISPLAY or WAYLAND_DISPLAY of a session; "
                "ssh -X forwards one, and gpu.window{{headless = true}} needs none",
                library.error());
  library.default_window_hints();
  library.window_hint(GLFW_CONTEXT_CREATION_API, GLFW_EGL_CONTEXT_API);
  library.window_hint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  library.window_hint(GLFW_CONTEXT_VERSION_MINOR, 3);
  library.window_hint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  library.window_hint(GLFW_RESIZABLE, options.resizable ? GLFW_TRUE : GLFW_FALSE);
  library.window_hint(GLFW_SCALE_TO_MONITOR, GLFW_FALSE);
  const NoContext none;  // GLFW makes the new one current
  GLFWwindow* const window =
      library.create_window(options.width, options.height, options.title.c_str(), nullptr, nullptr);
  if (window == nullptr)
    throw Error(ErrorKind::unavailable,
                "[window] GLFW opens no window with OpenGL 3.3 ({}): expected a GPU's driver, "
                "or Mesa's: apt-get install libgl1-mesa-dri",
                library.error());
  return std::make_unique<GlfwScreen>(window, options.vsync);
}

}  // namespace gpulua
