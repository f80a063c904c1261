// How the SIMD engine runs a kernel: as gpulua_run.h, for warps in the place of threads. One variant of a kernel is made for each
// way in which warps lie in blocks that it has to know of (src/device/cpu/simd/lane_pattern_analysis.h: WarpLayout).
#pragma once

extern "C" __attribute__((device)) void gpulua_run_warp(void** arguments, gpulua::cpu::ThreadContext* context);

__attribute__((device, always_inline)) inline gpulua::cpu::Index3 gpulua_unflatten(unsigned long number, gpulua::cpu::Index3 size) {
  const unsigned long row = number / size.x;
  return {(unsigned int)(number % size.x), (unsigned int)(row % size.y), (unsigned int)(row / size.y)};
}

/// To the next block of a grid: gpulua_unflatten() divides.
__attribute__((device, always_inline)) inline void gpulua_next_block(gpulua::cpu::Index3& block, gpulua::cpu::Index3 grid) {
  if (++block.x < grid.x) return;
  block.x = 0;
  if (++block.y < grid.y) return;
  block.y = 0;
  ++block.z;
}

// Placeholder: the threads that run as one. They are called a warp, where kernels cannot tell, too.
extern "C" __attribute__((device)) unsigned int gpulua_lane_count();

/// From a warp's first thread to that of the next one.
__attribute__((device, always_inline)) inline void gpulua_next_warp(gpulua::cpu::Index3& thread, gpulua::cpu::Index3 size) {
  thread.x += gpulua_lane_count();
  while (thread.x >= size.x) {
    thread.x -= size.x;
    if (++thread.y < size.y) continue;
    thread.y = 0;
    ++thread.z;
  }
}

// Placeholders: whether threads of one block may run between those of another, and whether the rows of neighbouring
// blocks are one row then (simd/flat_rows.h).
extern "C" __attribute__((device)) bool gpulua_blocks_are_independent();
extern "C" __attribute__((device)) bool gpulua_rows_are_flat();

// Placeholder: whether a warp may end before its lanes do, with a row of the kernel's (simd/row_ends.h). context.threads is then
// the number of threads that it has run.
extern "C" __attribute__((device)) bool gpulua_warps_end_with_rows();

/// The number of blocks, from this one on, whose rows are run as one, from the first block to the last, before the next
/// rows: memory is then read along its lines. Pieces of 1,024 elements take up to 1.8 times as long, since prefetchers begin anew
/// at each; with more than 4,096, columns of arrays would leave the caches.
__attribute__((device, always_inline)) inline unsigned int gpulua_side_by_side(gpulua::cpu::Index3 block, gpulua::cpu::Index3 size,
                                                                               gpulua::cpu::Index3 grid, unsigned long left) {
  constexpr unsigned int threads = 4096;
  if (!gpulua_blocks_are_independent() || (size.y * size.z == 1 && !gpulua_rows_are_flat())) return 1;
  unsigned int count = size.x < threads ? threads / size.x : 1;
  if (count > grid.x - block.x) count = grid.x - block.x;
  return count > left ? (unsigned int)left : count;
}

/// The block `count` further on, in the same row of the grid or the first of the next one.
__attribute__((device, always_inline)) inline void gpulua_next_blocks(gpulua::cpu::Index3& block, gpulua::cpu::Index3 grid,
                                                                      unsigned int count) {
  block.x += count - 1;
  gpulua_next_block(block, grid);
}

/// abi.h: RunBlocks. Warps as CUDA has them.
extern "C" __attribute__((device)) void gpulua_run_warps(void** arguments, const gpulua::cpu::Launch* launch,
                                                         unsigned long first, unsigned long last, char* shared,
                                                         char* dynamic_shared) {
  const gpulua::cpu::Index3 grid = launch->grid, size = launch->block;
  const unsigned int threads = size.x * size.y * size.z;
  gpulua::cpu::Index3 index = gpulua_unflatten(first, grid);
  for (unsigned long block = first; block < last;) {
    const unsigned int count = gpulua_side_by_side(index, size, grid, last - block);
    gpulua::cpu::Index3 thread = {0, 0, 0};
    for (unsigned int linear = 0; linear < threads; linear += gpulua_lane_count()) {
      const unsigned int left = threads - linear;
      gpulua::cpu::Index3 own = index;
      for (unsigned int i = 0; i < count; ++i, ++own.x) {
        gpulua::cpu::ThreadContext context = {thread, own,    size,   grid, shared, dynamic_shared,
                                              launch, linear, left < gpulua_lane_count() ? left : gpulua_lane_count(), nullptr};
        gpulua_run_warp(arguments, &context);
      }
      gpulua_next_warp(thread, size);
    }
    block += count;
    gpulua_next_blocks(index, grid, count);
  }
}

/// abi.h: RunBlocks. The rows of blocks in chunks of up to gpulua_lane_count() threads, for kernels whose threads are independent.
/// blockIdx.x * blockDim.x + threadIdx.x does not wrap within a chunk, signed or unsigned.
extern "C" __attribute__((device)) void gpulua_run_rows(void** arguments, const gpulua::cpu::Launch* launch, unsigned long first,
                                                        unsigned long last, char* shared, char* dynamic_shared) {
  const gpulua::cpu::Index3 grid = launch->grid, size = launch->block;
  gpulua::cpu::Index3 index = gpulua_unflatten(first, grid);
  for (unsigned long block = first; block < last;) {
    const unsigned int count = gpulua_side_by_side(index, size, grid, last - block);
    const unsigned int joined = gpulua_rows_are_flat() ? count : 1, width = size.x * joined;
    unsigned int row = 0;
    for (unsigned int z = 0; z < size.z; ++z)
      for (unsigned int y = 0; y < size.y; ++y, row += size.x) {
        gpulua::cpu::Index3 own = index;
        for (unsigned int i = 0; i < count; i += joined, own.x += joined)
          for (unsigned int x = 0, end; x < width; x = end) {
            const unsigned int wrap = 0x80000000u - ((own.x * size.x + x) & 0x7fffffffu);
            end = width - x < wrap ? width : x + wrap;
            while (x < end) {
              const unsigned int threads = end - x < gpulua_lane_count() ? end - x : gpulua_lane_count();
              gpulua::cpu::ThreadContext context = {{x, y, z}, own,    size,    grid,    shared,
                                                    dynamic_shared, launch, row + x, threads, nullptr};
              gpulua_run_warp(arguments, &context);
              x += gpulua_warps_end_with_rows() ? context.threads : gpulua_lane_count();
            }
          }
      }
    block += count;
    gpulua_next_blocks(index, grid, count);
  }
}

/// What a warp keeps from one phase to the next. The values that live across barriers follow it.
struct alignas(64) gpulua_warp_frame {
  unsigned int state;       // where to go on; 0: at the start
  unsigned int predicates;  // true ones, of the lanes that pause
  const unsigned int* sum;  // of the predicates of all warps that paused in the last phase
};

// Placeholders: memory for the frames of a block, the size of one, and whether any barrier asks for the sum.
extern "C" __attribute__((device)) char* gpulua_warp_frames();
extern "C" __attribute__((device)) unsigned long gpulua_warp_frame_bytes();
extern "C" __attribute__((device)) bool gpulua_warps_count_predicates();

/// As gpulua_run_warps, for kernels with barriers: in each phase, all warps run up to their next barrier.
extern "C" __attribute__((device)) void gpulua_run_warps_in_phases(void** arguments, const gpulua::cpu::Launch* launch,
                                                                  unsigned long first, unsigned long last,
                                                                  char* shared, char* dynamic_shared) {
  constexpr unsigned int done = ~0u;
  const gpulua::cpu::Index3 grid = launch->grid, size = launch->block;
  const unsigned int threads = size.x * size.y * size.z;
  char* frames = gpulua_warp_frames();
  unsigned int sum = 0;
  gpulua::cpu::Index3 index = gpulua_unflatten(first, grid);
  for (unsigned long block = first; block < last; ++block, gpulua_next_block(index, grid)) {
    char* place = frames;
    for (unsigned int linear = 0; linear < threads; linear += gpulua_lane_count(), place += gpulua_warp_frame_bytes()) {
      ((gpulua_warp_frame*)place)->state = 0;
      ((gpulua_warp_frame*)place)->sum = &sum;
    }
    bool paused;
    do {
      unsigned int predicates = 0;
      paused = false;
      gpulua::cpu::Index3 thread = {0, 0, 0};
      place = frames;
      for (unsigned int linear = 0; linear < threads; linear += gpulua_lane_count(), place += gpulua_warp_frame_bytes()) {
        auto* frame = (gpulua_warp_frame*)place;
        if (frame->state != done) {
          const unsigned int left = threads - linear;
          gpulua::cpu::ThreadContext context = {thread, index,  size,   grid, shared, dynamic_shared,
                                                launch, linear, left < gpulua_lane_count() ? left : gpulua_lane_count(), frame};
          gpulua_run_warp(arguments, &context);
          if (frame->state != done) {
            paused = true;
            if (gpulua_warps_count_predicates()) predicates += frame->predicates;
          }
        }
        gpulua_next_warp(thread, size);
      }
      if (gpulua_warps_count_predicates()) sum = predicates;
    } while (paused);
  }
}

/// What warps in lockstep keep once for their block. Block-uniform values that live across barriers follow it.
struct gpulua_block_state {
  unsigned int state, predicates;  // as of a warp; the predicates' sum
};

// Placeholders: its memory, as the last phase left it or (`next`) as this one leaves it, and its size.
extern "C" __attribute__((device)) char* gpulua_block_frame(bool next);
extern "C" __attribute__((device)) unsigned long gpulua_block_frame_bytes();

/// As gpulua_run_warps_in_phases, where all warps pause at the same barriers.
extern "C" __attribute__((device)) void gpulua_run_warps_in_lockstep(void** arguments, const gpulua::cpu::Launch* launch,
                                                                 unsigned long first, unsigned long last, char* shared,
                                                                 char* dynamic_shared) {
  constexpr unsigned int done = ~0u;
  const gpulua::cpu::Index3 grid = launch->grid, size = launch->block;
  const unsigned int threads = size.x * size.y * size.z;
  char *now = gpulua_block_frame(false), *next = gpulua_block_frame(true);
  gpulua::cpu::Index3 index = gpulua_unflatten(first, grid);
  for (unsigned long block = first; block < last; ++block, gpulua_next_block(index, grid)) {
    ((gpulua_block_state*)now)->state = 0;
    ((gpulua_block_state*)next)->predicates = 0;
    bool paused = false;
    do {
      gpulua::cpu::Index3 thread = {0, 0, 0};
      char* frame = gpulua_warp_frames();
      unsigned int linear = 0;
      do {
        const unsigned int left = threads - linear;
        gpulua::cpu::ThreadContext context = {thread, index,  size,   grid, shared, dynamic_shared,
                                              launch, linear, left < gpulua_lane_count() ? left : gpulua_lane_count(), frame};
        gpulua_run_warp(arguments, &context);
        gpulua_next_warp(thread, size);
        linear += gpulua_lane_count();
        frame += gpulua_warp_frame_bytes();
      } while (linear < threads);
      paused = ((gpulua_block_state*)next)->state != done;
      __builtin_memcpy(now, next, gpulua_block_frame_bytes());
      ((gpulua_block_state*)next)->predicates = 0;
    } while (paused);
  }
}

/// abi.h: RunFiber.
extern "C" __attribute__((device)) void gpulua_run_warp_fiber(void** arguments, gpulua::cpu::ThreadContext* context) {
  gpulua_run_warp(arguments, context);
}

/// Adds the counts of a private histogram (simd/privatised_histograms.h) to its array and clears them.
extern "C" __attribute__((device, noinline)) void gpulua_flush_histogram(unsigned int* array, unsigned int* histogram) {
  constexpr unsigned int elements = 1024, row = 16;
  for (unsigned int first = 0; first < elements; first += row) {
    unsigned int some = 0;
    for (unsigned int i = first; i < first + row; ++i) some |= histogram[i];
    if (some == 0) continue;
    for (unsigned int i = first; i < first + row; ++i) {
      if (histogram[i] != 0) __atomic_fetch_add(&array[i], histogram[i], __ATOMIC_RELAXED);
      histogram[i] = 0;
    }
  }
}

/// What gpulua_fail() is in a warp, for its lane `lane`.
extern "C" __attribute__((device, noinline)) void gpulua_fail_in_lane(const gpulua::cpu::ThreadContext* context,
                                                                      unsigned int lane, const char* message,
                                                                      const char* file, unsigned int line) {
  context->launch->services->fail(message, file, line, context->block,
                                  gpulua_unflatten(context->linear + lane, context->block_size));
}
