#pragma once

#include <string>
#include <vector>

#include "src/graphics/current_context.h"

namespace gpulua {

class Canvas;

struct WindowOptions {
  int width = 800, height = 600;  // pixels
  std::string title = "gpulua";
  bool vsync = true, resizable = true;
  bool headless = false;
};

/// The mouse over a window: its place in pixels from the top left, and what has turned since the last poll().
struct Mouse {
  double x = 0, y = 0;
  bool left = false, right = false, middle = false;
  double wheel = 0;
};

/// Where a window is: on a display, or nowhere. It owns an OpenGL context of version 3.3.
class Screen {
 public:
  struct Size {
    int width, height;
  };

  virtual ~Screen() = default;
  virtual const GlBinding& binding() const = 0;
  /// Takes the events that have come since the last call. False: the user has closed the window.
  virtual bool poll() { return true; }
  /// Waits until one has come, or for some seconds.
  virtual void wait(double /*seconds*/) {}
  virtual Size size() const = 0;  // in pixels
  virtual void resize(Size size) = 0;
  /// Shows what is drawn to the framebuffer 0.
  virtual void present() = 0;
  /// True where pixels go to a framebuffer 0.
  virtual bool is_shown() const = 0;
  /// By GLFW's numbers: whether the key is down, and whether it went down before the last poll().
  virtual bool is_down(int /*key*/) const { return false; }
  virtual bool was_pressed(int /*key*/) const { return false; }
  virtual Mouse mouse() const { return {}; }
};

}  // namespace gpulua
