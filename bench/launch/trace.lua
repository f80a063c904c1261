-- Host time of a launch, while no trace runs and while one does: of a kernel with five arguments and one block, batch by batch in turn.
-- The trace's file is written after the measured loop. Also the time of gpu.annotate around nothing.
--
--   LUA_PATH="bench/arrays/?.lua;bench/launch/?.lua;;" gpulua bench/launch/trace.lua

local gpu = require "gpu"
local batches, saxpy = require "batches", require "saxpy"

local path = os.tmpname()

local function compare(name, work)
  local timed = batches.timed(work)
  batches.compare(name .. " in a trace", function(calls) return gpu.profiler.trace(path, timed, calls) end, "without", timed)
end

local function nothing() end

compare("launch", saxpy.run)
compare("annotate", function() gpu.annotate("step", nothing) end)
os.remove(path)
assert(saxpy.out[1] == 3)
