#pragma once

// Optional shared libraries: opened at run time where they are installed.

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/config.h"

namespace gpulua {

/// An open shared library. It is never closed: vendors' libraries keep threads and exit handlers.
class DynamicLibrary {
 public:
  DynamicLibrary() = default;
  explicit operator bool() const { return handle_ != nullptr; }
  /// Opens `file` (a path or a name for the loader); on failure the result is empty and `why` has the loader's text.
  static DynamicLibrary open(const std::string& file, std::string& why);
  /// Null when there is no such symbol.
  void* symbol(const char* name) const;

 private:
  void* handle_ = nullptr;
};

/// A library that some functions need; the program starts without it.
class OptionalLibrary {
 public:
  /// Opens the first of `files` that there is. Where there is none, throws ErrorKind::unavailable: "[image] PNG files
  /// need libpng (the loader's text); install it with: apt-get install libpng16-16" of the op "image", the need "PNG
  /// files need libpng" and `install`.
  OptionalLibrary(std::string op, const std::string& need, const std::vector<std::string>& files, std::string install);
  /// Sets `function`, or a pointer to a variable. Throws ErrorKind::unavailable when the library has no such symbol.
  template <class Function>
  void find(Function*& function, const std::string& name) const {
    function = reinterpret_cast<Function*>(address(name));
  }
  /// Whether the library has such a symbol.
  bool has(const char* name) const { return library_.symbol(name) != nullptr; }
  /// The one of the files that was opened.
  const std::string& file() const { return file_; }

 private:
  void* address(const std::string& name) const;

  DynamicLibrary library_;
  std::string op_, file_, install_;
};

/// Finds a library of the CUDA toolkit, without loading it: in the loader's path, CUDA_HOME, /usr/local/cuda, pip's
/// `nvidia` wheels. `names` are in order of preference ("libnvrtc.so.13", "libnvrtc.so.12"); an earlier place takes
/// precedence over an earlier name.
std::optional<std::filesystem::path> find_cuda_library(const Config& config, std::span<const std::string_view> names);

/// The real folder of the executable or shared library that contains the code at that address.
std::filesystem::path folder_of_code(const void* address);

/// Identifies a file for a cache key without reading it: its real path, size and time of last change; the path alone
/// where there is no such file.
std::string file_identity(const std::filesystem::path& file);

}  // namespace gpulua
