#pragma once

// What a launch may access apart from arrays, the heap and shared memory.

#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "src/device/cpu/abi/check_record.h"
#include "src/device/cpu/runtime/fiber_stack.h"
#include "src/device/signature.h"

namespace gpulua::cpu {

class LaunchMemory {
 public:
  /// `plain`, `checks`: of the two modules whose constants, variables and functions the kernel may reach. `is_known`
  /// tells whether an address is that of an array, `lent` is memory of the host program's that arrays use. `frame`: of
  /// the launch's caller, on the thread that runs the kernel.
  LaunchMemory(const Signature& signature, void** arguments, const ModuleRecord& plain, const ModuleChecks& checks,
               const std::function<bool(const void*)>& is_known, std::span<const std::span<const char>> lent,
               const void* frame);

  /// The variable of the module that contains the address; null: none.
  const GlobalPlace* find_variable(const char* address) const;

  /// The checked form of a function of the source; null: it is none.
  const void* find_function(const void* function) const;

  /// The memory of the host program's in which the pointer's arithmetic started, or next to which it has led; empty:
  /// neither.
  std::span<const char> find_lent(const char* base, const char* address) const;

  enum class Place {
    open,      // the launch may do that
    constant,  // a write to what kernels only read
    thread,    // another thread's stack
    foreign,   // memory of the program that is none of the launch's
    nothing,   // where there is no memory
  };
  /// `here`: an address in the frame of the caller, below the kernel's frames.
  Place place(const ThreadContext& context, const char* here, const char* address, std::size_t bytes, bool writes);

 private:
  struct Range {
    const char *first, *end;
    bool writable;
    bool contains(const char* address, std::size_t bytes) const {
      return address >= first && address < end && bytes <= static_cast<std::size_t>(end - address);
    }
  };
  void add(const void* first, std::size_t bytes, bool writable);

  const ModuleChecks& checks_;
  std::vector<Range> ranges_;
  std::span<const std::span<const char>> lent_;
  std::unordered_map<const void*, const void*> functions_;
  const char* frame_;
  /// An argument points to memory of the program that no array uses: how much of it the kernel may use is not known.
  bool has_foreign_ = false;
};

/// True where there is memory.
bool is_mapped(const char* address);

}  // namespace gpulua::cpu
