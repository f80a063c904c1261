#pragma once

// Tests of the library's own kernels, compiled by NVRTC.

#include <string>
#include <vector>

#include "src/device/cuda/compiler/cuda_compiler.h"
#include "tests/unit/cuda_nvrtc.h"

namespace gpulua {

class OwnKernels {
 public:
  explicit OwnKernels(const std::string& architecture)
      : compiler_(Config::from_environment(), architecture, 13000) {}

  /// The image: PTX for a virtual architecture.
  std::string compile(std::string text, std::vector<std::string> options = {}) {
    KernelSource source;
    source.text = std::move(text);
    source.options = std::move(options);
    source.own = true;
    const auto module = compiler_.get(source, cache_);
    return {module->image.begin(), module->image.end()};
  }

 private:
  KernelCache cache_{"", 0};
  cuda::Compiler compiler_;
};

inline std::size_t count_of(const std::string& what, const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++count;
  return count;
}

}  // namespace gpulua
