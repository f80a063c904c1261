#pragma once

// What a compiled kernel module and the runtime know of each other. This text is compiled into the runtime and, ahead
// of the user's source, into every module; so it includes nothing. Whoever changes it bumps abi_version.

namespace gpulua::cpu {

inline constexpr unsigned abi_version = 1;

struct Index3 {
  unsigned x, y, z;
};

/// What the runtime does for a running kernel.
struct Services {
  /// Ends the launch: throws through the kernel's frames. `line` is 0 where it is not known.
  __attribute__((noreturn)) void (*fail)(const char* message, const char* file, unsigned line, Index3 block,
                                         Index3 thread);
};

struct Launch {
  Index3 grid, block;
  const Services* services;
};

/// What a device function can ask about the thread that runs it.
struct ThreadContext {
  Index3 thread, block;
  Index3 block_size, grid_size;
  char* shared;          // the block's static shared memory
  char* dynamic_shared;  // what the launch asked for
  const Launch* launch;
};

/// Runs the blocks [first, last) of a launch, numbered with x running fastest. `arguments` holds one pointer to each
/// parameter's value; the shared memory, aligned to 128 bytes, serves one block at a time.
using RunBlocks = void (*)(void** arguments, const Launch* launch, unsigned long first, unsigned long last,
                           char* shared, char* dynamic_shared);

struct KernelRecord {
  const char* symbol;  // KernelEntry::symbol
  RunBlocks run;
  unsigned long shared_bytes;  // static, a block; a multiple of 128
  unsigned max_threads;        // a block
};

struct GlobalRecord {
  const char* symbol;  // GlobalEntry::symbol
  void* address;
};

/// The one symbol that a module exports.
struct ModuleRecord {
  unsigned version;  // abi_version
  unsigned kernel_count, global_count;
  const KernelRecord* kernels;
  const GlobalRecord* globals;
};

}  // namespace gpulua::cpu
