-- gpulua --ranks N bench/comm/all_reduce.lua [largest bytes]: a loop over gpu.comm.all_reduce of float32. Prints a line for each
-- size: its bytes and the microseconds of a call. nccl_loop.cpp does the same in C++.
local gpu = require "gpu"
local comm = gpu.comm
local now = dofile((arg[0]:match "^.*/" or "") .. "clock.lua")

local largest = tonumber(arg[1]) or 2 ^ 30
local bytes = 8
while bytes <= largest do
  local x, out = gpu.ones(bytes / 4), gpu.empty(bytes / 4)
  local options = { out = out }
  local runs = math.max(20, math.min(500, math.floor(2 ^ 33 / bytes)))
  if not tostring(gpu.device()):find "cuda" then runs = math.max(3, runs / 50) end
  for _ = 1, 5 do comm.all_reduce(x, options) end
  gpu.sync()
  comm.barrier()
  local start = now()
  for _ = 1, runs do comm.all_reduce(x, options) end
  gpu.sync()
  local microseconds = comm.all_reduce((now() - start) / runs * 1e6, "max")
  comm.print(("%d %.2f"):format(bytes, microseconds))
  x:free()
  out:free()
  bytes = bytes * 2
end
