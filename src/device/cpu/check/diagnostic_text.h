#pragma once

// The text of a diagnostic.

#include <string>

#include "src/device/cpu/abi/check_record.h"
#include "src/device/cpu/abi/kernel_failure.h"

namespace gpulua::cpu {

/// "script.lua:12"
std::string line_text(const CheckedSite& site);
/// " at script.lua:12"; "" where the line is not known.
std::string place_text(const CheckedSite& site);

/// "out-of-bounds read of 4 bytes", for `what` "out-of-bounds".
std::string access_text(const char* what, const CheckedSite& site, std::size_t bytes);

/// "x[1024] of float32[1024]": the element at `offset` bytes in an object of `bytes` bytes.
std::string element_text(const CheckedObject& object, long offset, std::size_t bytes);

}  // namespace gpulua::cpu
