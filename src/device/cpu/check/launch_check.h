#pragma once

// The checks of one launch, which instrumented code calls.

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "src/device/cpu/check/block_check.h"
#include "src/device/cpu/check/checked_memory.h"
#include "src/device/cpu/runtime/fiber_stack.h"
#include "src/device/diagnostic.h"
#include "src/device/kernel.h"

namespace gpulua::cpu {

/// The launch runs on one thread.
class LaunchCheck {
 public:
  LaunchCheck(std::string kernel, const LaunchConfig& config, std::size_t static_shared_bytes, CheckedMemory& memory);

  /// The hooks of check_record.h; their `launch` is a LaunchCheck. They throw Diagnostic.
  static const CheckHooks hooks;

  /// Called after the launch: throws the early read of shared memory, if there was one and nothing worse followed.
  void finish();

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
  /// The memory that an access must stay in.
  struct Target {
    const char* first;
    std::size_t bytes;
    const char* named_from;       // the element that messages call 0
    const void* array = nullptr;  // Diagnostic::memory
  };
  static std::string text(const char* what, const Access& access, const Target& target);
  /// True when only the first `written` bytes of the read were initialised.
  static bool reads_unwritten(const Access& access, std::size_t written);

  void check(const Access& access);
  void check_bounds(const Access& access, const Target& target) const;
  void check_shared(const Access& access, const Target& target);
  void check_array(const Access& access, const Allocation& allocation);
  void check_unknown(const Access& access);

  /// The allocation in which the pointer's arithmetic started, or else the one that it has led to; null: neither.
  const Allocation* find_array(const Access& access);
  bool in_shared(const ThreadContext& context, const char* address) const;
  bool is_mapped(const char* address);

  /// `what` ends with the name of `array`, unless that is null; `rest` follows the line that made the array.
  Diagnostic diagnose(const ThreadContext& context, const CheckedSite& site, const std::string& what,
                      const std::string& rest = "", const void* array = nullptr) const;
  void end_thread(const ThreadContext& context);
  BlockCheck& block_of(const ThreadContext& context);
  [[noreturn]] void report(const Diagnostic& found) const;

  std::string kernel_;
  std::size_t static_shared_bytes_, shared_bytes_;
  CheckedMemory& memory_;
  FiberStack::Range stack_;           // of the thread that was checked last
  const Allocation* last_ = nullptr;  // the last result of find_array
  // Blocks that have begun and not ended, by number: some wait while others run.
  std::unordered_map<unsigned long, std::unique_ptr<BlockCheck>> blocks_;
  std::unique_ptr<BlockCheck> idle_;  // of a block that has ended, for reuse
  BlockCheck* current_ = nullptr;     // the last result of block_of
  unsigned long current_number_ = 0;
  std::unordered_set<const char*> mapped_;  // pages that are known to be mapped
  /// A read of shared memory before any write. When another thread writes there before a barrier, then it is a race.
  std::optional<Diagnostic> early_read_;
};

}  // namespace gpulua::cpu
