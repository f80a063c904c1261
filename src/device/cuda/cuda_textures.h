#pragma once

#include <memory>

#include "src/device/cuda/cuda_context.h"
#include "src/device/textures.h"

namespace gpulua::cuda {

/// Images are the driver's arrays, which its texture units read in an order of their own.
std::unique_ptr<Textures> make_textures(std::shared_ptr<Context> context);
/// An image over the driver's array, which outlives it.
std::shared_ptr<Image> wrap_image(std::shared_ptr<Context> context, CUarray array, const ImageShape& shape);

}  // namespace gpulua::cuda
