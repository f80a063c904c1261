#pragma once

// The checks of one launch: what instrumented code calls.

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "src/device/cpu/check/block_check.h"
#include "src/device/cpu/check/checked_memory.h"
#include "src/device/kernel.h"

namespace gpulua::cpu {

/// All of the launch runs on one thread, block after block; only those of a cooperative launch take turns.
class LaunchCheck {
 public:
  LaunchCheck(std::string kernel, const LaunchConfig& config, std::size_t static_shared_bytes, CheckedMemory& memory);

  /// The functions of record.h; their `launch` is a LaunchCheck. They throw Finding.
  static const CheckHooks hooks;

 private:
  using Allocation = CheckedMemory::Allocation;

  struct Access {
    ThreadContext& context;
    const char* base;
    const char* address;
    std::size_t bytes;
    unsigned long value;
    const CheckedSite& site;
  };
  /// What an access goes to: memory that it must stay in, and how messages name the place in it.
  struct Target {
    const char* first;
    std::size_t bytes;
    const char* named_from;          // where index 0 is
    const void* array = nullptr;     // Finding::memory
  };
  struct Block {
    Index3 index;
    BlockCheck check;
  };

  void check(const Access& access);
  void check_bounds(const Access& access, const Target& target) const;
  void check_shared(const Access& access, const Target& target);
  void check_array(const Access& access, const Allocation& allocation);
  void check_unknown(const Access& access);

  /// The allocation that the pointer's arithmetic started in, or else the one that it has led to; null: neither.
  const Allocation* find_array(const Access& access);
  bool in_shared(const ThreadContext& context, const char* address) const;
  bool is_mapped(const char* address);

  BlockCheck& block_of(const ThreadContext& context);
  [[noreturn]] void report(const ThreadContext& context, const CheckedSite& site, const std::string& what,
                           const void* array = nullptr) const;

  std::string kernel_;
  std::size_t static_shared_bytes_, shared_bytes_;
  bool cooperative_;
  CheckedMemory& memory_;
  const Allocation* last_ = nullptr;                 // that find_array gave
  std::unordered_map<unsigned long, Block> blocks_;  // by number, of a cooperative launch; else the one that runs
  std::unordered_set<const char*> mapped_;           // pages known to be there
};

}  // namespace gpulua::cpu
