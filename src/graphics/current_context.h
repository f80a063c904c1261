#pragma once

#include <cstdint>

namespace gpulua {

/// An OpenGL context with what it draws to, as it is current in a thread.
struct GlBinding {
  enum class System : std::uint8_t { none, egl, glx };
  System system = System::none;
  void* display = nullptr;
  std::uintptr_t draw = 0, read = 0;  // surfaces
  void* context = nullptr;            // null: no context is current
};

/// What is current in the calling thread, of EGL or of GLX. Opens no library: a program with a context has done so.
GlBinding current_binding();

/// Makes a context current in the calling thread, and restores at the end what was.
class CurrentContext {
 public:
  /// Throws Error, with `op` in brackets, where the context cannot be made current.
  CurrentContext(const GlBinding& wanted, const char* op);
  ~CurrentContext();
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;

 private:
  GlBinding wanted_, previous_;
};

/// No context is current in the calling thread while this exists: for calls that make one current by themselves.
class NoContext {
 public:
  NoContext();
  ~NoContext();
  NoContext(const NoContext&) = delete;
  NoContext& operator=(const NoContext&) = delete;

 private:
  GlBinding previous_;
};

}  // namespace gpulua
