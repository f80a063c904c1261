#pragma once

// The reads of textures and surfaces in CUDA C++ text. A compiled kernel knows no kinds of textures: what it reads in
// another way than they are made for is garbage on a GPU.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/dtype.h"

namespace gpulua {

struct TextureUse {
  std::string function;  // "tex2D"
  std::string type;      // "float4"; empty where the text does not tell it
  int dimensions = 1;
  bool layered = false;
  bool in_rows = false;  // tex1Dfetch
  bool is_surface = false;
  std::optional<DType> dtype;  // of the type; none: not known
  unsigned lanes = 1;

  std::string text() const { return type.empty() ? function : function + "<" + type + ">"; }
};

/// The calls in the text, each once.
std::vector<TextureUse> texture_uses(std::string_view text);

}  // namespace gpulua
