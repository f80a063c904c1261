#include "src/graphics/egl.h"

#include <cstdio>

#include "src/base/dynamic_library.h"

namespace gpulua {

Egl::Egl() {
  const OptionalLibrary library("window", "windows need EGL", {"libEGL.so.1"}, "apt-get install libegl1");
#define GPULUA_EGL_LOAD(member, function) library.find(member, #function);
  GPULUA_EGL_FUNCTIONS(GPULUA_EGL_LOAD)
#undef GPULUA_EGL_LOAD
#define GPULUA_EGL_LOAD(member, function) member = reinterpret_cast<decltype(member)>(get_proc_address(#function));
  GPULUA_EGL_EXTENSIONS(GPULUA_EGL_LOAD)
#undef GPULUA_EGL_LOAD
}

std::string Egl::error() const {
  constexpr const char* names[] = {"EGL_SUCCESS",       "EGL_NOT_INITIALIZED",     "EGL_BAD_ACCESS",
                                   "EGL_BAD_ALLOC",     "EGL_BAD_ATTRIBUTE",       "EGL_BAD_CONFIG",
                                   "EGL_BAD_CONTEXT",   "EGL_BAD_CURRENT_SURFACE", "EGL_BAD_DISPLAY",
                                   "EGL_BAD_MATCH",     "EGL_BAD_NATIVE_PIXMAP",   "EGL_BAD_NATIVE_WINDOW",
                                   "EGL_BAD_PARAMETER", "EGL_BAD_SURFACE",         "EGL_CONTEXT_LOST"};
  const EGLint code = get_error();
  if (code >= EGL_SUCCESS && code <= EGL_CONTEXT_LOST) return names[code - EGL_SUCCESS];
  return "EGL error " + std::to_string(code);
}

const Egl& egl() {
  static const Egl library;
  return library;
}

}  // namespace gpulua
