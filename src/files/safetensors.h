#pragma once

// Hugging Face's safetensors: eight bytes with the length of a header in JSON, the header, the elements.

#include <map>
#include <span>
#include <string>

#include "src/files/npz.h"

namespace gpulua {

/// Reads the arrays from the bytes of a file, called `file` in errors, in the order of the header. Throws Error for a
/// damaged file, which may promise no more than it holds, and for elements that are no DType.
NamedArrays read_safetensors(std::span<const char> bytes, OpenDevice& device, const std::string& file);

/// Writes the arrays, aligned to eight bytes. `metadata`: texts by name for the header. Throws Error for a complex
/// array, and of kind `file` for a failed write.
void save_safetensors(const std::string& path, const NamedArrays& arrays,
                      const std::map<std::string, std::string>& metadata);

}  // namespace gpulua
