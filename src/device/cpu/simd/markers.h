#pragma once

// Calls that stand for what only the engine knows, from when a kernel is prepared until it is widened.

#include <llvm/IR/Instructions.h>

#include <string_view>

namespace gpulua::cpu::simd {

enum class Marker {
  none,
  thread_x,  // i32 (): threadIdx
  thread_y,
  thread_z,
  block_x,         // i32 (): blockDim.x
  linear,          // i32 (): number of the thread in its block
  private_memory,  // ptr (i64 bytes, i64 stride): memory of the lane's own; `stride` bytes from a lane's to the next
  shared_memory,   // ptr (ptr): the same address, of memory that no parameter points to
  known_to_all,    // void (ptr): other threads write there, too
  tally,           // ptr (i32 parameter): tallies.h
  settle,          // void (i32 parameter, ptr array, ptr address, i64 bytes): if the tally has counts for the address
  all,             // i1 (i1 comparison): whether it is true of all lanes that run; may be false even so
  load_strip,      // void (ptr own, ptr from): strip_turns elements of the lane's into its private memory (strips.h)
  store_strip,     // void (ptr own, ptr to): and from there
  fail,            // gpulua_fail(message, file, line)
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

Marker marker(const llvm::Value* value);
/// Null where it is a builtin of the prelude.
const char* marker_name(Marker marker);

}  // namespace gpulua::cpu::simd
