#pragma once

// Markers: calls of functions without a body, which only the engine understands. They exist from prepare() until a
// kernel is widened. Some are builtins of the prelude (src/device/cpu/headers/gpulua_engine.h), the others are the
// engine's own.

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include <initializer_list>

namespace gpulua::cpu::simd {

enum class Marker {
  none,
  thread_x,  // i32 (): threadIdx
  thread_y,
  thread_z,
  block_x,            // i32 (): blockDim.x
  linear,             // i32 (): the thread's number in its block
  private_memory,     // ptr (i64 bytes, i64 stride): memory of one lane; the next lane's starts `stride` bytes after it
  shared_memory,      // ptr (ptr): the same address, as memory that no parameter points to
  escape,             // void (ptr): other threads write to this memory, too
  private_histogram,  // ptr (i32 parameter): privatised_histograms.h
  flush_histogram,    // void (i32 parameter, ptr array, ptr address, i64 bytes): flush if the access may see its counts
  all_lanes,          // i1 (i1 comparison): true only if the comparison holds for all lanes that run
  whole_warp,  // i1 (i1 condition, i1 value, i1 also): true only if all lanes run, the condition has the value in all,
               // and `also`, which is uniform, holds
  first_lane,  // (value): lane 0's, whether it runs or not
  lane,        // i32 (): the thread's place in its warp
  first_running,  // i32 (): the first lane that runs
  consecutive,    // i1 (value): whether each lane's is 1 more than that of the lane before, in the layout at hand
  end_lanes,      // void (i32 count): in WarpLayout::row_chunk, the next warp starts with the thread of this lane
  load_strip,     // void (ptr own, ptr from): strip_length elements of a lane to its private memory (strip_mining.h)
  store_strip,    // void (ptr own, ptr to): and back
  fail,           // gpulua_fail(message, file, line)
  barrier,
  barrier_count,
  grid_barrier,
  tile_barrier,
  warp_barrier,
  shuffle,
  ballot,
  activemask,
  yield,
  pause,
};

/// The marker that the value is a call of; `none` for other values.
Marker marker(const llvm::Value* value);
/// True if the function has a call of one of the markers.
bool has_marker(const llvm::Function& function, std::initializer_list<Marker> wanted);
/// True for a barrier of the block, the grid or a tile.
bool is_barrier(const llvm::Instruction& instruction);
const char* marker_name(Marker marker);

/// Inserts a call of the marker, which returns and does not throw.
llvm::CallInst* call_marker(llvm::IRBuilder<>& builder, Marker marker, llvm::Type* result,
                            const std::vector<llvm::Value*>& arguments);

/// A call of Marker::private_memory: fresh memory for each lane.
llvm::CallInst* call_private_memory(llvm::IRBuilder<>& builder, std::uint64_t bytes, std::uint64_t stride,
                                    const llvm::Twine& name = "");

}  // namespace gpulua::cpu::simd
