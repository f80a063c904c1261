#pragma once

#include <memory>

#include "src/graphics/screen.h"

namespace gpulua {

/// A window on the display, by GLFW. Throws ErrorKind::unavailable where GLFW or a display is missing.
std::unique_ptr<Screen> open_glfw(const WindowOptions& options);

}  // namespace gpulua
