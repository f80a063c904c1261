#pragma once

// The kernel cache: compiled modules by the digest of everything that went into them, in memory and on disk.
//
// An entry is one file. It is written to a temporary name and renamed, so a reader sees all of it or none; it carries a
// checksum and is recompiled when that is wrong. A directory that cannot be written only costs speed. The least recently
// used entries go when the directory passes its size limit. Any number of processes may share one directory.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "src/device/kernel.h"

namespace gpulua {

/// Collects what identifies a compilation. Fields are length-prefixed: "ab","c" and "a","bc" differ.
class CacheKey {
 public:
  CacheKey& add(std::string_view field);
  CacheKey& add(std::uint64_t field);
  CacheKey& add(const KernelSource& source);
  /// 32 hexadecimal digits.
  std::string digest() const;

 private:
  std::string bytes_;
};

class KernelCache {
 public:
  /// `directory` empty: memory only. `limit` in bytes.
  KernelCache(std::filesystem::path directory, std::uintmax_t limit);

  /// The module of that key, or what `compile` makes, kept for the next time.
  std::shared_ptr<const CompiledModule> get(const std::string& digest, const std::function<CompiledModule()>& compile);

 private:
  std::shared_ptr<const CompiledModule> load(const std::string& digest);
  void store(const std::string& digest, const CompiledModule& module) noexcept;
  void evict() noexcept;

  std::filesystem::path directory_;
  std::uintmax_t limit_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const CompiledModule>> memory_;
};

}  // namespace gpulua
