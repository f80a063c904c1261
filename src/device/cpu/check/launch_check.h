#pragma once

// The checks of one launch, which instrumented code calls.

#include <array>
#include <cstdarg>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "src/device/cpu/check/block_check.h"
#include "src/device/cpu/check/checked_memory.h"
#include "src/device/cpu/check/launch_memory.h"
#include "src/device/cpu/check/races.h"
#include "src/device/cpu/runtime/fiber_stack.h"
#include "src/device/diagnostic.h"
#include "src/device/kernel.h"

namespace gpulua::cpu {

/// The launch runs on one thread.
class LaunchCheck {
 public:
  /// `find_memory` tells what the launch may access apart from arrays, `heap` and shared memory.
  LaunchCheck(std::string kernel, const LaunchConfig& config, std::size_t static_shared_bytes, CheckedMemory& arrays,
              CheckedMemory& heap, Races& races, std::function<LaunchMemory()> find_memory);

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
  /// What the last access at a site went to.
  struct Known {
    const CheckedSite* site = nullptr;
    const Allocation* allocation = nullptr;
    Races::Shadow* shadow = nullptr;  // null: not needed yet
  };
  static std::string text(const char* what, const Access& access, const Target& target);
  /// True when only the first `written` bytes of the read were initialised.
  static bool reads_unwritten(const Access& access, std::size_t written);

  void check(const Access& access);
  /// Fails unless the stack has room for `bytes` more and the checker's own functions.
  void check_stack(const ThreadContext& context, const CheckedSite& site, std::size_t bytes);
  void check_bounds(const Access& access, const Target& target) const;
  void check_shared(const Access& access, const Target& target);
  void check_array(const Access& access, Known& known);
  void check_variable(const Access& access, const char* first, std::size_t bytes, bool is_constant);
  void check_unknown(const Access& access);
  void check_race(const Access& access, const Target& target, Races::Shadow& shadow, bool in_shared = false);
  const void* check_call(const ThreadContext& context, const void* function, const CheckedSite& site);
  /// Each byte of the string, its end too.
  void check_text(ThreadContext& context, const char* text, const CheckedSite& site, std::size_t most = SIZE_MAX);
  static int print(void* launch, ThreadContext* context, const CheckedSite* site, const char* format, ...);
  void check_print(ThreadContext& context, const CheckedSite& site, const char* format, std::va_list arguments);

  /// The allocation in which the pointer's arithmetic started, or else the one that it has led to; null: neither.
  const Allocation* find_allocation(const Access& access) const;
  bool in_shared(const ThreadContext& context, const char* address) const;

  /// `what` ends with the name of `array`, unless that is null; `rest` follows the line that made the array.
  Diagnostic diagnose(const ThreadContext& context, const CheckedSite& site, const std::string& what,
                      const std::string& rest = "", const void* array = nullptr) const;
  void end_thread(const ThreadContext& context);
  /// A block that has begun and not ended.
  struct Block {
    BlockCheck check;
    Races::Shadow shared;
  };
  Block& block_of(const ThreadContext& context);
  LaunchMemory& memory();
  [[noreturn]] void report(const Diagnostic& found) const;

  std::string kernel_;
  std::size_t static_shared_bytes_, shared_bytes_;
  CheckedMemory &arrays_, &heap_;
  std::function<LaunchMemory()> find_memory_;
  std::optional<LaunchMemory> memory_;  // once an access needs it
  bool has_fibers_ = true;  // or a stack of its own. False: the kernel runs on the thread's
  FiberStack::Range stack_;         // of the thread that was checked last
  std::array<Known, 256> known_{};  // by the site's address
  std::size_t forgotten_ = 0;       // heap_.forgotten(), for known_
  Races& races_;
  // Blocks that have begun and not ended, by number: some wait while others run.
  std::unordered_map<unsigned long, std::unique_ptr<Block>> blocks_;
  std::unique_ptr<Block> idle_;  // of a block that has ended, for reuse
  Block* current_ = nullptr;     // the last result of block_of
  Index3 current_index_{};
  unsigned long current_number_ = 0;
  std::vector<Index3> begun_;  // the index of each block by its ordinal
  /// A read of shared memory before any write. When another thread writes there before a barrier, then it is a race.
  std::optional<Diagnostic> early_read_;
};

}  // namespace gpulua::cpu
