#pragma once

// The kernel cache: compiled modules, in memory and on disk (disk_cache.h), by the digest of all inputs of the
// compilation. A damaged entry, or one that cannot be written, costs the time to compile again and nothing else.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "src/device/kernel.h"
#include "src/device/shared/disk_cache.h"

namespace gpulua {

/// Collects the inputs of a compilation. Fields are length-prefixed: "ab","c" and "a","bc" differ.
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
  /// `directory` empty: memory only. `limit` in bytes. `warn` gets one message when the directory is not used because
  /// others may write to it.
  KernelCache(std::filesystem::path directory, std::uintmax_t limit, std::function<void(const std::string&)> warn = {});

  /// The module with that digest. Calls `compile` when there is none, and keeps the result.
  std::shared_ptr<const CompiledModule> get(const std::string& digest, const std::function<CompiledModule()>& compile);

  /// Calls `compile`, whose inputs have no digest; keeps nothing.
  std::shared_ptr<const CompiledModule> compile_now(const std::function<CompiledModule()>& compile);

  /// A call of `compile`.
  struct Compilation {
    std::uint64_t number = 0;  // counted from 1; 0: none yet
    std::chrono::steady_clock::time_point begin, end;
  };
  /// The number of the newest one, and all about it.
  std::uint64_t compilations() const { return compilations_.load(std::memory_order_relaxed); }
  Compilation last_compilation();

 private:
  std::shared_ptr<const CompiledModule> load(const std::string& digest) noexcept;
  void store(const std::string& digest, const CompiledModule& module) noexcept;

  CacheDirectory directory_;
  std::mutex mutex_;
  std::atomic<std::uint64_t> compilations_{0};
  Compilation last_;
  std::unordered_map<std::string, std::shared_ptr<const CompiledModule>> memory_;
};

}  // namespace gpulua
