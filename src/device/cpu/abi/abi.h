#pragma once

// What a compiled kernel module and the runtime know of each other. This text is compiled into the runtime and, ahead
// of the user's source, into every module; so it includes nothing. Whoever changes it bumps abi_version.

namespace gpulua::cpu {

inline constexpr unsigned abi_version = 5;

struct Index3 {
  unsigned x, y, z;
};

struct ThreadContext;

/// What the runtime does for a running kernel: the other side of the engine builtins
/// (src/device/cpu/headers/gpulua_engine.h). A strand is what an engine runs as one flow of control: one thread, or the
/// 32 threads of a warp. Each call may let other strands of the block run before it returns, and may throw through the
/// kernel's frames to end the launch. `file` and `line` are where the source calls, for messages; `line` is 0 where
/// that is not known.
struct Services {
  /// Ends the launch.
  __attribute__((noreturn)) void (*fail)(const char* message, const char* file, unsigned line, Index3 block,
                                         Index3 thread);

  // ---- the block: kernels with a `run_strand` only ----
  /// `threads` threads of this strand arrive at the block's barrier, `predicates` of them with a true predicate.
  /// Returns when all threads of the block have arrived or exited, with the sum of `predicates`. A strand cannot go on
  /// with some of its threads while others wait here.
  unsigned (*barrier)(ThreadContext*, unsigned threads, unsigned predicates, const char* file, unsigned line);
  /// `threads` threads of this strand exit while others go on: barriers no longer wait for them. Threads that exit
  /// together with their strand need no call.
  void (*leave)(ThreadContext*, unsigned threads);
  /// As `barrier`, for all threads of the grid. Cooperative launches only: elsewhere it fails.
  void (*grid_barrier)(ThreadContext*, unsigned threads, const char* file, unsigned line);
  /// As `barrier`, for the tile that the strand is of: one of those of `size` threads, a multiple of 32, that the block
  /// is cut into.
  void (*tile_barrier)(ThreadContext*, unsigned threads, unsigned size, const char* file, unsigned line);
  /// The strand cannot go on until another thread has done something: called at each turn of a loop that spins.
  void (*yield)(ThreadContext*);

  // ---- the warp: strands of one thread only; an engine whose strand is a warp does these by itself ----
  // Each waits until all lanes that `mask` names have called it with the same mask, or have exited.
  void (*warp_barrier)(ThreadContext*, unsigned mask);
  /// The value of lane `source_lane`, below 32; the thread's own when that lane takes no part.
  unsigned (*shuffle)(ThreadContext*, unsigned mask, unsigned value, unsigned source_lane);
  /// The lanes, out of those of the mask, whose predicate is not 0.
  unsigned (*ballot)(ThreadContext*, unsigned mask, unsigned predicate);
};

struct Launch {
  Index3 grid, block;
  const Services* services;
};

/// What a device function can ask about the thread that runs it; for a strand of a warp, about the warp's first thread.
struct ThreadContext {
  Index3 thread, block;
  Index3 block_size, grid_size;
  char* shared;          // the block's static shared memory
  char* dynamic_shared;  // what the launch asked for
  const Launch* launch;
  unsigned linear;   // number of the thread in its block, x running fastest
  unsigned threads;  // of the strand: from this one on
  void* strand;      // the runtime's own; null under RunBlocks
};

/// Runs the blocks [first, last) of a launch, numbered with x running fastest. `arguments` holds one pointer to each
/// parameter's value; the shared memory, aligned to 128 bytes, serves one block at a time.
using RunBlocks = void (*)(void** arguments, const Launch* launch, unsigned long first, unsigned long last,
                           char* shared, char* dynamic_shared);

/// Runs one strand, of context->threads threads, from its start to its end, as a fiber.
using RunStrand = void (*)(void** arguments, ThreadContext* context);

/// For which shapes of block a record is.
enum class BlockRule : unsigned {
  any = 0,
  rows = 1,       // x is a multiple of 32; or y and z are 1, and threads numbered along the grid's x are below 2^31
  half_rows = 2,  // x is 16 and y is even
};

/// One way to run a kernel. Of the records of a symbol the runtime takes the first whose rule holds for the block; the
/// last one's is `any`.
struct KernelRecord {
  const char* symbol;  // KernelEntry::symbol
  // Exactly one of the two is set. With `run` the blocks' threads need nothing of each other; with `run_strand` they
  // may call the block's and the warp's services.
  RunBlocks run;
  RunStrand run_strand;
  unsigned strand_threads;  // 1 or 32
  BlockRule block_rule;
  unsigned long shared_bytes;  // static, a block; a multiple of 128
  unsigned long local_bytes;   // of a strand's stack: its variables, and room to recurse
  unsigned max_threads;        // a block
};

struct GlobalRecord {
  const char* symbol;  // GlobalEntry::symbol
  void* address;
};

/// What malloc and free are in a module's kernels.
struct Heap {
  void* self;
  void* (*allocate)(void* self, unsigned long bytes);  // null when there is no room
  void (*release)(void* self, void* memory);           // may throw through the kernel's frames
};

/// The one symbol that a module exports.
struct ModuleRecord {
  unsigned version;  // abi_version
  unsigned kernel_count, global_count;
  const KernelRecord* kernels;
  const GlobalRecord* globals;
  Heap* heap;  // the runtime sets it before a kernel runs; null: no kernel uses one
};

}  // namespace gpulua::cpu
