-- How the Lua sides measure.
local ffi = require "ffi"
ffi.cdef [[
  typedef struct { long seconds, nanoseconds; } bench_timespec;
  int bench_clock_gettime(int clock, bench_timespec* time) __asm__("clock_gettime");
]]

local timing = {}

-- The script's arguments: "tiny", and the names of the workloads that are wanted.
local wanted = {}
for _, word in ipairs(arg) do
  if word == "tiny" then timing.tiny = true else wanted[word] = true end
end
--- Whether a workload is to be run: one that is named, or each when none is.
function timing.wanted(name) return next(wanted) == nil or wanted[name] == true end

local now_buffer = ffi.new "bench_timespec"
--- Milliseconds of the monotonic clock.
function timing.now()
  ffi.C.bench_clock_gettime(1, now_buffer)
  return tonumber(now_buffer.seconds) * 1e3 + tonumber(now_buffer.nanoseconds) * 1e-6
end

--- The median time of `run`, which `sync` waits for: at least 5 repeats and a third of a second, after three that warm up.
function timing.median(run, sync)
  for _ = 1, 3 do run() end
  sync()
  local times, begin = {}, timing.now()
  while #times < 5 or (timing.now() - begin < 333 and #times < 1000) do
    local start = timing.now()
    run()
    sync()
    times[#times + 1] = timing.now() - start
  end
  table.sort(times)
  return times[math.floor(#times / 2) + 1]
end

return timing
