#pragma once

// The names that nvcc's own headers declare without an #include.

#include <string>

#include "src/device/kernel.h"

namespace gpulua {

struct ImplicitText {
  std::string text;      // whole lines, to be put ahead of the source's text
  bool partial = false;  // true: it leaves out names that the source declares itself
};

/// The lines that declare those names for the source.
ImplicitText implicit_text(const KernelSource& source);

}  // namespace gpulua
