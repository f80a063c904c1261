#include "src/graphics/headless_context.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "src/base/error.h"
#include "src/device/graphics.h"
#include "src/graphics/egl.h"

namespace gpulua {
namespace {

class HeadlessScreen final : public Screen {
 public:
  HeadlessScreen(EGLDisplay display, EGLContext context, Size size) : size_(size) {
    binding_ = {GlBinding::System::egl, display, 0, 0, context};
  }
  ~HeadlessScreen() override { egl().destroy_context(binding_.display, binding_.context); }

  const GlBinding& binding() const override { return binding_; }
  Size size() const override { return size_; }
  void resize(Size size) override { size_ = size; }
  void present() override {}
  bool is_shown() const override { return false; }

 private:
  GlBinding binding_;
  Size size_;
};

/// A context of OpenGL 3.3 without surfaces on the display; null, and the reason, where there is none.
std::unique_ptr<Screen> open_on(EGLDisplay display, Screen::Size size, std::string& why) {
  const Egl& library = egl();
  EGLint major = 0, minor = 0;
  if (display == EGL_NO_DISPLAY || library.initialize(display, &major, &minor) == EGL_FALSE) {
    why = library.error();
    return nullptr;
  }
  const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
  EGLConfig config = nullptr;
  EGLint count = 0;
  if (library.choose_config(display, wanted, &config, 1, &count) == EGL_FALSE || count < 1) {
    why = "it has no OpenGL";
    return nullptr;
  }
  const EGLenum callers = library.query_api();
  library.bind_api(EGL_OPENGL_API);
  const EGLint version[] = {
      EGL_CONTEXT_MAJOR_VERSION,           3,       EGL_CONTEXT_MINOR_VERSION, 3, EGL_CONTEXT_OPENGL_PROFILE_MASK,
      EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE};
  const EGLContext context = library.create_context(display, config, EGL_NO_CONTEXT, version);
  if (context == EGL_NO_CONTEXT) why = "it has no OpenGL 3.3 (" + library.error() + ")";
  library.bind_api(callers);
  if (context == EGL_NO_CONTEXT) return nullptr;
  auto screen = std::make_unique<HeadlessScreen>(display, context, size);
  try {
    const CurrentContext current(screen->binding(), "window");  // some have none without a surface
  } catch (const Error&) {
    why = "it has no contexts without a surface";
    return nullptr;
  }
  return screen;
}

std::vector<EGLDeviceEXT> list_devices() {
  const Egl& library = egl();
  EGLint count = 0;
  if (library.query_devices == nullptr || library.get_platform_display == nullptr ||
      library.query_devices(0, nullptr, &count) == EGL_FALSE)
    return {};
  std::vector<EGLDeviceEXT> devices(static_cast<std::size_t>(count));
  library.query_devices(count, devices.data(), &count);
  devices.resize(static_cast<std::size_t>(count));
  return devices;
}

/// The number of "cuda:1"; -1 for another device.
int ordinal_of(const std::string& name) {
  constexpr std::string_view prefix = "cuda:";
  int ordinal = -1;
  if (name.starts_with(prefix)) std::from_chars(name.data() + prefix.size(), name.data() + name.size(), ordinal);
  return ordinal;
}

bool draws_on(OpenDevice& device, const Screen& screen) {
  Graphics* const graphics = device.device().graphics();
  if (graphics == nullptr) return false;
  const CurrentContext current(screen.binding(), "window");
  return graphics->has_current_context();
}

}  // namespace

std::unique_ptr<Screen> open_headless(OpenDevice& device, const WindowOptions& options) {
  const Egl& library = egl();
  const Screen::Size size{options.width, options.height};
  std::vector<EGLDeviceEXT> devices = list_devices();
  const int ordinal = ordinal_of(device.name());
  const auto is_wanted = [&](EGLDeviceEXT candidate) {
    EGLAttrib number = -1;
    return ordinal >= 0 && library.query_device_attribute != nullptr &&
           library.query_device_attribute(candidate, EGL_CUDA_DEVICE_NV, &number) != EGL_FALSE && number == ordinal;
  };
  std::ranges::stable_partition(devices, is_wanted);

  std::string why, reasons;
  std::unique_ptr<Screen> first;
  for (EGLDeviceEXT candidate : devices) {
    auto screen = open_on(library.get_platform_display(EGL_PLATFORM_DEVICE_EXT, candidate, nullptr), size, why);
    if (!screen) {
      reasons += (reasons.empty() ? "" : ", ") + why;
      continue;
    }
    if (device.info().in_host_memory || draws_on(device, *screen)) return screen;
    if (!first) first = std::move(screen);
  }
  if (first) return first;
  if (library.get_platform_display != nullptr) {
    auto screen =
        open_on(library.get_platform_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr), size, why);
    if (screen) return screen;
    reasons += (reasons.empty() ? "" : ", ") + why;
  }
  throw Error(
      ErrorKind::unavailable,
      "[window] EGL gives no OpenGL 3.3 without a display ({}): expected a GPU's driver, or Mesa's, which draws "
      "on the processor: apt-get install libegl1 libgl1-mesa-dri",
      reasons.empty() ? "it has no devices" : reasons);
}

}  // namespace gpulua
