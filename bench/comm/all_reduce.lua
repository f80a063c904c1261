-- gpulua --ranks N bench/comm/all_reduce.lua [largest bytes]: the time of an all_reduce by size, and the bus bandwidth as nccl-tests
-- reckon it: 2 (N - 1) / N times the bytes, divided by the time.
local gpu = require "gpu"
local comm = gpu.comm
local ffi = require "ffi"

ffi.cdef "typedef struct { long seconds, nanoseconds; } gpulua_bench_time; int clock_gettime(int, gpulua_bench_time*);"
local time = ffi.new "gpulua_bench_time"
local function now()
  ffi.C.clock_gettime(1, time) -- CLOCK_MONOTONIC
  return tonumber(time.seconds) + tonumber(time.nanoseconds) * 1e-9
end

local largest = tonumber(arg[1]) or 2 ^ 26
comm.print(("all_reduce of float32 on %d ranks, %s"):format(comm.size, tostring(gpu.device())))
comm.print "       bytes          us    GB/s"
local bytes = 8
while bytes <= largest do
  local x = gpu.ones(bytes / 4)
  local runs = math.max(3, math.min(200, math.floor(2 ^ 27 / bytes)))
  comm.all_reduce(x)
  comm.barrier()
  local start = now()
  for _ = 1, runs do comm.all_reduce(x) end
  gpu.sync()
  local seconds = comm.all_reduce((now() - start) / runs, "max")
  comm.print(("%12d %11.1f %7.2f"):format(bytes, seconds * 1e6, 2 * (comm.size - 1) / comm.size * bytes / seconds / 1e9))
  bytes = bytes * 8
end
