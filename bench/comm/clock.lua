-- A function that gives the seconds of a clock that only goes forward.
local ffi = require "ffi"
ffi.cdef "typedef struct { long seconds, nanoseconds; } gpulua_bench_time; int clock_gettime(int, gpulua_bench_time*);"
local time = ffi.new "gpulua_bench_time"
return function()
  ffi.C.clock_gettime(1, time) -- CLOCK_MONOTONIC
  return tonumber(time.seconds) + tonumber(time.nanoseconds) * 1e-9
end
