#pragma once

// Tests that run NVRTC, which needs no GPU. They warn on a machine without it, and fail where it is installed but
// cannot be used.

#include <dlfcn.h>

#include <filesystem>
#include <string>

#include "src/base/config.h"
#include "src/base/error.h"
#include "tests/catch.h"

namespace gpulua {

/// Whether `file` is in the toolkit's folder. Looks by itself, so that a mistake of the library's own search is not
/// missed.
inline bool toolkit_has(const std::string& file) {
  const Config config = Config::from_environment();
  for (const std::filesystem::path& home : {config.cuda_home, config.default_cuda_home})
    if (!home.empty() && std::filesystem::exists(home / file)) return true;
  return false;
}

inline bool nvrtc_is_installed() {
  for (const std::string name : {"libnvrtc.so.13", "libnvrtc.so.12"})
    if (toolkit_has("lib64/" + name) || ::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL) != nullptr) return true;
  return false;
}

/// Runs `test`. False, with a warning, where NVRTC is not installed.
template <class Test>
bool with_nvrtc(Test test) {
  try {
    test();
    return true;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::unavailable || nvrtc_is_installed()) throw;
    WARN("skipped: " << error.what());
    return false;
  }
}

/// Runs `test`, which includes the toolkit's headers; warns where they are not installed.
template <class Test>
void with_toolkit_headers(Test test) {
  try {
    test();
  } catch (const Error& error) {
    const bool no_header = std::string(error.what()).find("open source file") != std::string::npos;
    if (!no_header || toolkit_has("include/cuda_fp16.h")) throw;
    WARN("skipped: the toolkit's headers are not installed");
  }
}

}  // namespace gpulua
