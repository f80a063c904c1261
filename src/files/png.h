#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gpulua {

/// Pixels as a PNG file has them, row by row: gray; gray and alpha; red, green and blue; or these and alpha.
struct Picture {
  std::int64_t height = 0, width = 0;
  int channels = 1;  // 1 to 4
  int depth = 8;     // bits a sample, 8 or 16
  std::vector<char> samples;
};

/// The picture of a PNG file's bytes. Palettes become their colours, samples of fewer than 8 bits are scaled to 8.
/// `file` names it in errors.
Picture read_png(std::span<const char> bytes, const std::string& file);

/// Throws Error of kind `file` when it cannot be written.
void save_png(const std::string& path, const Picture& picture);

}  // namespace gpulua
