#include "src/graphics/current_context.h"

#include <dlfcn.h>

#include <initializer_list>

#include "src/base/error.h"
#include "src/graphics/egl.h"

namespace gpulua {
namespace {

/// GLX, whose types need X's headers: a drawable is a number of X's.
struct Glx {
  void* (*get_current_context)() = nullptr;
  void* (*get_current_display)() = nullptr;
  unsigned long (*get_current_drawable)() = nullptr;
  unsigned long (*get_current_read_drawable)() = nullptr;
  int (*make_context_current)(void* display, unsigned long draw, unsigned long read, void* context) = nullptr;
};

struct CurrentEgl {
  decltype(&::eglGetCurrentContext) get_context = nullptr;
  decltype(&::eglGetCurrentDisplay) get_display = nullptr;
  decltype(&::eglGetCurrentSurface) get_surface = nullptr;
};

/// A library that the process has loaded; null: none of them.
void* find_loaded(std::initializer_list<const char*> files) {
  for (const char* file : files)
    if (void* const found = dlopen(file, RTLD_LAZY | RTLD_NOLOAD)) return found;
  return nullptr;
}

template <class Function>
bool find_symbol(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

const Glx* loaded_glx() {
  thread_local Glx glx;
  thread_local bool found = false;
  if (found) return &glx;
  void* const library = find_loaded({"libGLX.so.0", "libGL.so.1"});
  found = library != nullptr && find_symbol(library, "glXGetCurrentContext", glx.get_current_context) &&
          find_symbol(library, "glXGetCurrentDisplay", glx.get_current_display) &&
          find_symbol(library, "glXGetCurrentDrawable", glx.get_current_drawable) &&
          find_symbol(library, "glXGetCurrentReadDrawable", glx.get_current_read_drawable) &&
          find_symbol(library, "glXMakeContextCurrent", glx.make_context_current);
  return found ? &glx : nullptr;
}

const CurrentEgl* loaded_egl() {
  thread_local CurrentEgl egl;
  thread_local bool found = false;
  if (found) return &egl;
  void* const library = find_loaded({"libEGL.so.1"});
  found = library != nullptr && find_symbol(library, "eglGetCurrentContext", egl.get_context) &&
          find_symbol(library, "eglGetCurrentDisplay", egl.get_display) &&
          find_symbol(library, "eglGetCurrentSurface", egl.get_surface);
  return found ? &egl : nullptr;
}

bool bind(const GlBinding& binding) {
  if (binding.system == GlBinding::System::egl)
    return egl().make_current(binding.display, reinterpret_cast<EGLSurface>(binding.draw),
                              reinterpret_cast<EGLSurface>(binding.read), binding.context) == EGL_TRUE;
  const Glx* const glx = loaded_glx();
  return glx != nullptr && glx->make_context_current(binding.display, binding.draw, binding.read, binding.context) != 0;
}

/// A thread has a context of EGL or of GLX: one goes before the other comes.
void release(const GlBinding& binding) {
  if (binding.context != nullptr) bind({binding.system, binding.display, 0, 0, nullptr});
}

}  // namespace

GlBinding current_binding() {
  if (const CurrentEgl* const egl = loaded_egl())
    if (void* const context = egl->get_context())
      return {GlBinding::System::egl, egl->get_display(), reinterpret_cast<std::uintptr_t>(egl->get_surface(EGL_DRAW)),
              reinterpret_cast<std::uintptr_t>(egl->get_surface(EGL_READ)), context};
  if (const Glx* const glx = loaded_glx())
    if (void* const context = glx->get_current_context())
      return {GlBinding::System::glx, glx->get_current_display(), glx->get_current_drawable(),
              glx->get_current_read_drawable(), context};
  return {};
}

CurrentContext::CurrentContext(const GlBinding& wanted, const char* op)
    : wanted_(wanted), previous_(current_binding()) {
  if (previous_.context == wanted_.context) return;
  if (previous_.system != wanted_.system) release(previous_);
  if (bind(wanted_)) return;
  if (previous_.context != nullptr) bind(previous_);
  throw Error(
      "[{}] the OpenGL context cannot be made current in this thread: it is current in another thread, or it is gone",
      op);
}

CurrentContext::~CurrentContext() {
  if (previous_.context == wanted_.context) return;
  if (previous_.system != wanted_.system) release(wanted_);
  if (previous_.context != nullptr) bind(previous_);
}

NoContext::NoContext() : previous_(current_binding()) {
  release(previous_);
}

NoContext::~NoContext() {
  release(current_binding());
  if (previous_.context != nullptr) bind(previous_);
}

}  // namespace gpulua
