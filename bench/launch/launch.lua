-- Host time of a launch: from Lua, and by a C++ loop over cuLaunchKernel (loop.cpp). A kernel with five arguments and
-- one block.
--
--   LUA_PATH="bench/arrays/?.lua;bench/launch/?.lua;;" gpulua bench/launch/launch.lua path/to/libbench_launch_loop.so

local ffi = require "ffi"
local batches, saxpy = require "batches", require "saxpy"

ffi.cdef "double bench_launch_loop(int launches);"
local baseline = ffi.load(arg[1])

batches.compare("Lua", batches.timed(saxpy.run), "C++", baseline.bench_launch_loop)
assert(saxpy.out[1] == 3)
