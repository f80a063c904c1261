#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/array/array.h"

namespace gpulua {

/// Decodes the bytes of a PNG file. The array is uint8, or uint16 for 16 bits per sample; its shape is (height,width)
/// for a gray picture, else (height,width,channels). Palette indices become colours; samples of fewer than 8 bits are
/// scaled to 8. `file`: the name in errors.
Array read_png(std::span<const char> bytes, OpenDevice& device, const std::string& file);

/// A picture to write: rows of pixels with 8-bit samples.
struct Picture {
  std::int64_t height = 0, width = 0;
  int channels = 1;  // 1: gray; 3: red, green, blue; 4: with alpha
  std::vector<char> samples;
};

/// Writes the picture to a PNG file. Throws Error of kind `file` when the write fails.
void save_png(const std::string& path, const Picture& picture);

}  // namespace gpulua
