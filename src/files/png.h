#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/array/array.h"

namespace gpulua {

/// The picture of a PNG file's bytes: uint8, or uint16 for 16 bits a sample, of shape (height,width) for gray ones,
/// else (height,width,channels). Palettes become their colours, samples of fewer than 8 bits are scaled to 8. `file`
/// names it in errors.
Array read_png(std::span<const char> bytes, OpenDevice& device, const std::string& file);

/// Pixels to write, row by row: samples of 8 bits that are gray; red, green and blue; or these and alpha.
struct Picture {
  std::int64_t height = 0, width = 0;
  int channels = 1;  // 1, 3 or 4
  std::vector<char> samples;
};

/// Throws Error of kind `file` when it cannot be written.
void save_png(const std::string& path, const Picture& picture);

}  // namespace gpulua
