#pragma once

#include <memory>

#include "src/device/libraries.h"

namespace gpulua::cpu {

/// A library with FFTW 3's interface that the machine has: FFTW itself, MKL or NVPL. Null where it has none.
std::unique_ptr<Fft> open_fft();

}  // namespace gpulua::cpu
