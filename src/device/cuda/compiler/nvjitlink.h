#pragma once

// nvJitLink, NVIDIA's linker of device code, loaded from the file given: nothing links against it.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpulua::cuda {

/// The kinds of code that nvJitLink links, with its numbers for them.
enum class LinkInputKind : std::int32_t { cubin = 1, ptx, lto_ir, fatbin, object, library };

/// Told from the first bytes. Throws Error for bytes of none of the kinds.
LinkInputKind link_input_kind(std::string_view image);

class NvJitLink {
 public:
  /// Throws ErrorKind::unavailable when the file cannot be loaded.
  explicit NvJitLink(const std::filesystem::path& library);

  struct Input {
    std::string name;  // for messages
    std::string image;
    LinkInputKind kind;
  };
  struct Result {
    bool success = false;
    std::string log;
    std::string cubin;
  };
  /// Inputs that do not link give a result without success. It writes some complaints to standard error and succeeds:
  /// check_link() finds these first.
  Result link(std::span<const Input> inputs, std::span<const std::string> options) const;

 private:
  // The library's C interface, of CUDA 12.0 and later. Results are 0 for success.
  using Handle = struct Opaque*;
  int (*create_)(Handle*, std::uint32_t, const char**) = nullptr;
  int (*destroy_)(Handle*) = nullptr;
  int (*add_data_)(Handle, LinkInputKind, const void*, std::size_t, const char*) = nullptr;
  int (*complete_)(Handle) = nullptr;
  int (*cubin_size_)(Handle, std::size_t*) = nullptr;
  int (*cubin_)(Handle, void*) = nullptr;
  int (*log_size_)(Handle, std::size_t*) = nullptr;
  int (*log_)(Handle, char*) = nullptr;
};

}  // namespace gpulua::cuda
