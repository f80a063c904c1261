#pragma once

#include <string>

#include "src/base/error.h"

namespace gpulua {

/// What a device's checker has found in a kernel. The device knows addresses; who made the array there is for the core
/// to say, between `text` and `place`.
class __attribute__((visibility("default"))) Finding : public Error {
 public:
  /// `memory`: an address that allocate() gave, of the array that `text` ends with; null: none.
  Finding(std::string text, const void* memory, std::string place)
      : Error(ErrorKind::device, text + place), text_(std::move(text)), memory_(memory), place_(std::move(place)) {}

  /// "[launch] kernel 'k': script.lua:5: out-of-bounds read of 4 bytes: x[8] of float32[8]"
  const std::string& text() const { return text_; }
  const void* memory() const { return memory_; }
  /// ", block (0,0,0), thread (8,0,0)", and ahead of it what else there is to say
  const std::string& place() const { return place_; }

 private:
  std::string text_;
  const void* memory_;
  std::string place_;
};

}  // namespace gpulua
