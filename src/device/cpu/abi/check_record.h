#pragma once

// The interface between a checked module and the checker. The compiler writes these as constants into the module,
// beside the ModuleRecord (abi.h). A change of them increases abi_version.

#include "src/device/cpu/abi/abi.h"

namespace gpulua::cpu {

enum class Space : unsigned {
  unknown,  // a pointer that the source loaded from memory or was given by another function
  parameter,
  local,
  shared,
  dynamic_shared,
  global,
  constant,
};

inline constexpr unsigned max_extents = 4;

/// The variable or array that an access belongs to, as far as the source tells.
struct CheckedObject {
  const char* name;  // "x"; empty: it has none
  const char* type;  // of an element, "float32"; empty: not known
  Space space;
  unsigned element_bytes;
  unsigned long bytes;  // 0: known at run time only
  unsigned first;       // the index of the first element: 1 for what a Lua function names, else 0
  unsigned rank;        // extents that are set; 0: one dimension
  unsigned long extents[max_extents];
};

namespace access {
inline constexpr unsigned read = 1;
inline constexpr unsigned write = 2;
inline constexpr unsigned atomic = 4;
/// Copies bytes of any meaning, padding too.
inline constexpr unsigned copy = 8;
/// The hook gets the value that is about to be written,
inline constexpr unsigned value = 16;
/// or its address.
inline constexpr unsigned value_at = 32;
inline constexpr unsigned is_volatile = 64;
}  // namespace access

/// A place in the source that accesses memory or waits at a barrier.
struct CheckedSite {
  const char* file;
  unsigned line;   // 0: not known
  unsigned kind;   // of `access`
  unsigned align;  // the alignment that the access assumes
  const CheckedObject* object;
};

/// Instrumented code calls these with ModuleChecks::launch. Each may throw through the kernel's frames.
struct CheckHooks {
  /// Before an access of `bytes` at `address`, which was made by arithmetic on `base`.
  void (*access)(void* launch, ThreadContext* context, const char* base, const char* address, unsigned long bytes,
                 unsigned long value, const CheckedSite* site);
  /// Before the block's barrier, and the grid's.
  void (*barrier)(void* launch, ThreadContext* context, const CheckedSite* site);
  void (*grid_barrier)(void* launch, ThreadContext* context, const CheckedSite* site);
  /// Before an operation that waits for lanes of the warp.
  void (*warp_barrier)(void* launch, ThreadContext* context, const CheckedSite* site);
  /// Before one that gets the value of the lane `source`.
  void (*shuffle)(void* launch, ThreadContext* context, const CheckedSite* site, unsigned mask, unsigned source);
  /// Before the barrier of a tile of `size` threads.
  void (*tile_barrier)(void* launch, ThreadContext* context, const CheckedSite* site, unsigned size);
  /// Where the thread makes its earlier accesses visible to others.
  void (*fence)(void* launch, ThreadContext* context);
  /// Before a call through a pointer. Returns the function to call: of this module.
  const void* (*call)(void* launch, ThreadContext* context, const void* function, const CheckedSite* site);
  /// Before a read of a string.
  void (*text)(void* launch, ThreadContext* context, const char* text, const CheckedSite* site);
  /// In place of printf.
  int (*print)(void* launch, ThreadContext* context, const CheckedSite* site, const char* format, ...);
  /// Where a thread leaves the kernel.
  void (*end)(void* launch, ThreadContext* context);
  /// Where a thread finds ModuleChecks::stop set.
  void (*stop)(void* launch, ThreadContext* context);
  /// Before the stack grows: in a function that recurses, and by `bytes` that the source computes.
  void (*grow)(void* launch, ThreadContext* context, const CheckedSite* site, unsigned long bytes);
  /// In place of __builtin_trap(), and where the source says that no thread comes.
  void (*trap)(void* launch, ThreadContext* context, const CheckedSite* site);
};

/// A checked module uses the variables of the plain module of the same source: it finds them through these.
struct GlobalPlace {
  const char* symbol;  // GlobalEntry::symbol
  void** place;
  unsigned long bytes;
  bool is_constant;
};

/// A function whose address the source takes.
struct FunctionPlace {
  const char* symbol;
  const void* address;
};

/// The second symbol that a checked module exports, `gpulua_checks`.
struct ModuleChecks {
  const CheckHooks* hooks;
  void* launch;
  const void* stop;  // a std::atomic<bool>: the launch shall end. Loops and functions that recurse look at it
  unsigned place_count;
  const GlobalPlace* places;
  unsigned function_count;
  const FunctionPlace* functions;
};

}  // namespace gpulua::cpu
