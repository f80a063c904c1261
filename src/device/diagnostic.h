#pragma once

#include <string>

#include "src/base/error.h"

namespace gpulua {

/// A mistake that a device's checker has found in a kernel. The device knows the array's address; the runtime adds the
/// line that made the array, between `text` and `place`.
class __attribute__((visibility("default"))) Diagnostic : public Error {
 public:
  /// `memory`: the address, from allocate(), of the array that `text` names at its end; null: it names none.
  Diagnostic(std::string text, const void* memory, std::string place)
      : Error(ErrorKind::device, text + place), text_(std::move(text)), memory_(memory), place_(std::move(place)) {}

  /// "[launch] kernel 'k': script.lua:5: out-of-bounds read of 4 bytes: x[8] of float32[8]"
  const std::string& text() const { return text_; }
  const void* memory() const { return memory_; }
  /// ", block (0,0,0), thread (8,0,0)", after any further details
  const std::string& place() const { return place_; }

 private:
  std::string text_;
  const void* memory_;
  std::string place_;
};

}  // namespace gpulua
