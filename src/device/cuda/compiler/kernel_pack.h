#pragma once

// Kernels of the library's that are shipped compiled: a file of modules by digest, for one architecture. A damaged file
// costs the time to compile and nothing else. src/shipped makes it.

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/device/kernel.h"
#include "src/device/shared/disk_cache.h"

namespace gpulua::cuda {

class KernelPack {
 public:
  /// The pack in `file`. It is empty where the file is missing or damaged, or its modules are for drivers of a newer
  /// CUDA than `driver_version` (13000).
  KernelPack(std::filesystem::path file, int driver_version);

  /// The module with that digest; nothing where there is none, or it is damaged.
  std::optional<CompiledModule> find(std::string_view digest) const;

  /// The bytes of a pack: the modules without their PTX, by digest. A driver loads what a compiler of its own CUDA's
  /// major version or of an older one has made: `nvrtc_version` (13000).
  static std::string make(const std::map<std::string, CompiledModule>& modules, int nvrtc_version);

 private:
  using Digest = std::array<char, CacheDirectory::digest_size>;
  struct Header;
  struct Row {
    Digest digest;
    Digest checksum;             // of the serialized module
    std::uint64_t size;          // of the serialized module
    std::uint64_t begin, bytes;  // where it is in the file, compressed
  };
  static Digest digest_of(std::string_view text);

  std::filesystem::path file_;
  std::vector<Row> rows_;  // by digest
  std::string dictionary_;
};

/// The name of the pack for an architecture, "sm_90"; it is in the plugin's folder.
std::string pack_name(std::string_view architecture);

}  // namespace gpulua::cuda
