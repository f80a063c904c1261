// How the scalar engine runs a kernel, thread by thread. The compiler makes a copy of one of these templates
// for each kernel, with a call of that kernel in the place of gpulua_run_thread; it is inlined.
#pragma once

extern "C" __attribute__((device)) void gpulua_run_thread(void** arguments, gpulua::cpu::ThreadContext* context);

/// abi.h: RunBlocks. A block's threads run one after another, and the context dissolves into plain values.
extern "C" __attribute__((device)) void gpulua_run_blocks(void** arguments, const gpulua::cpu::Launch* launch,
                                                          unsigned long first, unsigned long last, char* shared,
                                                          char* dynamic_shared) {
  const gpulua::cpu::Index3 grid = launch->grid, size = launch->block;
  for (unsigned long block = first; block < last; ++block) {
    const unsigned long row = block / grid.x;
    const gpulua::cpu::Index3 index = {(unsigned int)(block % grid.x), (unsigned int)(row % grid.y),
                                       (unsigned int)(row / grid.y)};
    unsigned int linear = 0;
    for (unsigned int z = 0; z < size.z; ++z)
      for (unsigned int y = 0; y < size.y; ++y)
        for (unsigned int x = 0; x < size.x; ++x) {
          gpulua::cpu::ThreadContext context = {{x, y, z}, index,  size,     grid,   shared,
                                                dynamic_shared, launch, linear++, 1, nullptr};
          gpulua_run_thread(arguments, &context);
        }
  }
}

/// abi.h: RunFiber.
extern "C" __attribute__((device)) void gpulua_run_fiber(void** arguments, gpulua::cpu::ThreadContext* context) {
  gpulua_run_thread(arguments, context);
}
