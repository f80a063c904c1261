#pragma once

#include <memory>

#include "src/device/textures.h"

namespace gpulua {
class Device;
}

namespace gpulua::cpu {

/// Images in the memory of `device`, as are the records by which kernels find them: its checker sees each read.
std::unique_ptr<Textures> make_textures(Device& device);

}  // namespace gpulua::cpu
