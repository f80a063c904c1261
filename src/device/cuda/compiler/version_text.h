#pragma once

#include <string>

namespace gpulua::cuda {

/// CUDA's way of writing versions as numbers: "13.0" for 13000.
inline std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace gpulua::cuda
