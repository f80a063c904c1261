#pragma once

#include <memory>

#include "src/device/cuda/cuda_context.h"
#include "src/device/textures.h"

namespace gpulua::cuda {

/// Images are the driver's arrays, which its texture units read in an order of their own.
std::unique_ptr<Textures> make_textures(std::shared_ptr<Context> context);

}  // namespace gpulua::cuda
