#pragma once

// The interface between compiled kernel modules and the runtime. This text is compiled into the runtime and, ahead of
// the user's source, into every module; so it includes nothing. A change of a layout increases abi_version.

namespace gpulua::cpu {

inline constexpr unsigned abi_version = 9;

struct Index3 {
  unsigned x, y, z;
};

struct ThreadContext;

/// What the runtime does for a running kernel: the other side of the engine builtins
/// (src/device/cpu/headers/gpulua_engine.h). A kernel whose threads wait for each other runs as fibers: flows of
/// control with a stack each, which take turns. A fiber runs one thread (the scalar engine) or the 32 threads of a warp
/// (the SIMD engine). Each call may let other fibers of the block run before it returns, and may throw through the
/// kernel's frames to end the launch. `file` and `line` are the place of the call in the source, for messages; `line`
/// is 0 where that is not known.
struct Services {
  /// Ends the launch.
  __attribute__((noreturn)) void (*fail)(const char* message, const char* file, unsigned line, Index3 block,
                                         Index3 thread);

  // ---- the block: kernels with a `run_fiber` only ----
  /// `threads` threads of this fiber arrive at the block's barrier, `predicates` of them with a true predicate.
  /// Returns when all threads of the block have arrived or exited, with the sum of `predicates`. A fiber cannot go on
  /// with some of its threads while others wait here.
  unsigned (*barrier)(ThreadContext*, unsigned threads, unsigned predicates, const char* file, unsigned line);
  /// `threads` threads of this fiber exit while others go on: barriers no longer wait for them. Threads that exit
  /// together with their fiber need no call.
  void (*leave)(ThreadContext*, unsigned threads);
  /// As `barrier`, for all threads of the grid. Cooperative launches only: elsewhere it fails.
  void (*grid_barrier)(ThreadContext*, unsigned threads, const char* file, unsigned line);
  /// As `barrier`, for the fiber's tile. Tiles of `size` threads, a multiple of 32, divide the block.
  void (*tile_barrier)(ThreadContext*, unsigned threads, unsigned size, const char* file, unsigned line);
  /// The fiber cannot go on until another thread has done something: called at each turn of a loop that spins.
  void (*yield)(ThreadContext*);

  // ---- the warp: fibers of one thread only; the SIMD engine does these by itself ----
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

/// What a device function can ask about the thread that runs it; where a warp runs as one, about its first thread.
struct ThreadContext {
  Index3 thread, block;
  Index3 block_size, grid_size;
  char* shared;          // the block's static shared memory
  char* dynamic_shared;  // what the launch asked for
  const Launch* launch;
  unsigned linear;   // number of the thread in its block, x running fastest
  unsigned threads;  // that run as one, from this one on: 1, or those of the warp
  void* fiber;       // the runtime's, under RunFiber; the frame of a warp that takes turns (gpulua_warps.h); else null
};

/// Runs the blocks [first, last) of a launch, numbered with x running fastest. `arguments` holds one pointer to each
/// parameter's value; the shared memory, aligned to 128 bytes, serves one block at a time.
using RunBlocks = void (*)(void** arguments, const Launch* launch, unsigned long first, unsigned long last,
                           char* shared, char* dynamic_shared);

/// Runs context->threads threads from their start to their end, as one fiber.
using RunFiber = void (*)(void** arguments, ThreadContext* context);

/// The block shapes that a record can run.
enum class BlockRule : unsigned {
  any = 0,
  rows = 1,        // x is a multiple of 32
  half_rows = 2,   // x is 16 and y is even
  line = 3,        // y and z are 1, and threads numbered along the grid's x are below 2^31
  rows_of_16 = 4,  // x is a multiple of 16
  rows_of_8 = 5,
};

/// One way to run a kernel. Of the records of a symbol the runtime takes the first whose rule holds for the block. The
/// last one's is `any`, but for kernels of a KernelSource with `whole_warps`.
struct KernelRecord {
  const char* symbol;  // KernelEntry::symbol
  // One of the two is set, or none, where the code is compiled when a launch first has such blocks (CodeChoice).
  // Kernels with `run_fiber` may call the services of the block and the warp.
  RunBlocks run;
  RunFiber run_fiber;
  unsigned threads_per_fiber;  // 1, or the lanes of its code
  BlockRule block_rule;
  unsigned long shared_bytes;  // static, a block; a multiple of 128
  unsigned long local_bytes;   // of stack that a fiber, or the kernel, needs: its variables, and room to recurse
  unsigned max_threads;        // a block
};

/// A texture's elements; those of 8 and 16 bits may be read as fractions of their largest value.
enum class TextureElement : unsigned { uint8, int8, uint16, int16, uint32, int32, float16, float32 };
/// What lies beyond the border, with the driver's numbers.
enum class TextureBorder : unsigned { wrap, clamp, mirror, zero };
/// Added to the number of dimensions in TextureRecord::shape.
inline constexpr unsigned texture_layered = 4, texture_in_rows = 8, texture_is_surface = 16;

/// What a texture or surface object is the address of (gpulua_textures.h).
struct TextureRecord {
  char* texels;
  unsigned long row_bytes, slice_bytes;  // from a row, and from a slice or layer, to the next one
  int width, height, depth;              // depth: of the layers, in a layered one; 1 where there is no such axis
  unsigned shape;
  TextureElement element;
  unsigned channels, texel_bytes;
  TextureBorder border;
  bool linear, normalized_coordinates, is_float;
};

/// A variable: those of the source's `__constant__` and `__device__` ones; with code left out, all that keep a value.
struct GlobalRecord {
  const char* symbol;
  void* address;
};

/// A module with code that another module left out uses that one's variables: it finds them through these.
struct VariablePlace {
  const char* symbol;  // GlobalRecord::symbol
  void** place;
};

/// A function to which a variable points from the start.
struct FunctionRecord {
  const char* symbol;
  const void* address;
};

/// malloc and free of a module's kernels.
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
  unsigned place_count;
  const VariablePlace* places;
  unsigned function_count;
  const FunctionRecord* functions;
  Heap* heap;  // the runtime fills it in when it loads the module; null: no kernel uses one
};

}  // namespace gpulua::cpu
