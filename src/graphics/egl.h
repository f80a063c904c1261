#pragma once

// EGL: OpenGL contexts without a display, and the contexts of our windows.

#define EGL_NO_X11
#define EGL_EGLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>

#include <string>

#define GPULUA_EGL_FUNCTIONS(X)          \
  X(bind_api, eglBindAPI)                \
  X(choose_config, eglChooseConfig)      \
  X(create_context, eglCreateContext)    \
  X(destroy_context, eglDestroyContext)  \
  X(get_error, eglGetError)              \
  X(get_proc_address, eglGetProcAddress) \
  X(initialize, eglInitialize)           \
  X(make_current, eglMakeCurrent)        \
  X(query_api, eglQueryAPI)              \
  X(query_string, eglQueryString)        \
  X(swap_buffers, eglSwapBuffers)        \
  X(swap_interval, eglSwapInterval)

// Extensions: null where there is none.
#define GPULUA_EGL_EXTENSIONS(X)                     \
  X(query_devices, eglQueryDevicesEXT)               \
  X(query_device_attribute, eglQueryDeviceAttribEXT) \
  X(get_platform_display, eglGetPlatformDisplayEXT)

namespace gpulua {

struct Egl {
  /// Throws ErrorKind::unavailable, with the package to install, where the library is not found.
  Egl();

#define GPULUA_EGL_MEMBER(member, function) decltype(&::function) member;
  GPULUA_EGL_FUNCTIONS(GPULUA_EGL_MEMBER)
  GPULUA_EGL_EXTENSIONS(GPULUA_EGL_MEMBER)
#undef GPULUA_EGL_MEMBER

  /// The calling thread's last error, by its name.
  std::string error() const;
};

/// EGL's library, opened by the first call.
const Egl& egl();

}  // namespace gpulua
