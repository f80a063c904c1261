// The engine builtins: the only operations between threads that an engine has to know; gpulua_sync.h makes CUDA's out
// of them. The scalar engine, which runs single threads, uses these definitions. An engine that runs warps replaces the
// calls, by name, before it inlines anything.
#pragma once

#define GPULUA_BUILTIN extern "C" __attribute__((device)) inline
#define GPULUA_SOURCE_LINE const char *file = __builtin_FILE(), unsigned int line = __builtin_LINE()

/// The runtime keeps its own data after the context that it handed out.
__attribute__((device)) inline gpulua::cpu::ThreadContext* gpulua_context() {
  return const_cast<gpulua::cpu::ThreadContext*>(&gpulua_thread_context);
}
__attribute__((device)) inline const gpulua::cpu::Services& gpulua_services() {
  return *gpulua_thread_context.launch->services;
}

/// Waits for all threads of the block.
GPULUA_BUILTIN void gpulua_barrier(GPULUA_SOURCE_LINE) {
  gpulua_services().barrier(gpulua_context(), 1, 0, file, line);
}
/// The same, and gives for how many of them `predicate` is not 0.
GPULUA_BUILTIN unsigned int gpulua_barrier_count(unsigned int predicate, GPULUA_SOURCE_LINE) {
  return gpulua_services().barrier(gpulua_context(), 1, predicate != 0, file, line);
}
/// Waits for all threads of the grid.
GPULUA_BUILTIN void gpulua_grid_barrier(GPULUA_SOURCE_LINE) {
  gpulua_services().grid_barrier(gpulua_context(), 1, file, line);
}
/// Waits for the threads of the tile that this one is of, in a block cut into tiles of `size` threads, a multiple
/// of 32.
GPULUA_BUILTIN void gpulua_tile_barrier(unsigned int size, GPULUA_SOURCE_LINE) {
  gpulua_services().tile_barrier(gpulua_context(), 1, size, file, line);
}
/// Waits for the lanes of the mask.
GPULUA_BUILTIN void gpulua_warp_barrier(unsigned int mask) {
  gpulua_services().warp_barrier(gpulua_context(), mask);
}
/// `value` of the lane `source_lane`, 0 to 31.
GPULUA_BUILTIN unsigned int gpulua_shuffle(unsigned int mask, unsigned int value, unsigned int source_lane) {
  return gpulua_services().shuffle(gpulua_context(), mask, value, source_lane);
}
/// The lanes whose predicate is not 0.
GPULUA_BUILTIN unsigned int gpulua_ballot(unsigned int mask, unsigned int predicate) {
  return gpulua_services().ballot(gpulua_context(), mask, predicate);
}
/// The lanes that run together. The scalar engine runs each thread by itself.
GPULUA_BUILTIN unsigned int gpulua_activemask() {
  return 1u << (gpulua_thread_context.linear & 31);
}
/// Lets others run. The compiler puts calls of this one into loops that wait for another thread, and makes a kernel
/// with such a loop switch threads (spin_loops.h); and of the next into loops that take a lock, where a kernel which
/// switches threads anyway has to let the owner run.
extern "C" __attribute__((device)) void gpulua_yield() {
  gpulua_services().yield(gpulua_context());
}
extern "C" __attribute__((device)) void gpulua_pause() {
  if (gpulua_thread_context.fiber != nullptr) gpulua_services().yield(gpulua_context());
}

#undef GPULUA_BUILTIN
