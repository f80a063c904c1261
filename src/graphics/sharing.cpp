#include "src/graphics/sharing.h"

#include "src/base/error.h"
#include "src/device/graphics.h"
#include "src/graphics/opengl.h"

namespace gpulua {

void check_shares(OpenDevice& device, const char* op) {
  if (device.info().in_host_memory) return;
  Graphics* const graphics = device.device().graphics();
  if (graphics == nullptr)
    throw Error(ErrorKind::unavailable,
                "[{}] expected a device that shares memory with OpenGL, got {}, whose driver does not", op,
                device.name());
  if (graphics->has_current_context()) return;
  const auto* const renderer = reinterpret_cast<const char*>(opengl().get_string(GL_RENDERER));
  throw Error(
      "[{}] expected an OpenGL context of {}, got one of another device, {}: make the context on that GPU, or choose "
      "the option device = \"cpu\"",
      op, device.name(), renderer != nullptr ? renderer : "which has no name");
}

}  // namespace gpulua
