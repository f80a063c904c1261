#pragma once

#include <memory>

#include "src/graphics/screen.h"
#include "src/runtime/open_device.h"

namespace gpulua {

/// A window without a display. Its OpenGL context is of the device's GPU, where EGL knows that one, else of the first
/// device that gives one. Throws ErrorKind::unavailable where none does.
std::unique_ptr<Screen> open_headless(OpenDevice& device, const WindowOptions& options);

}  // namespace gpulua
