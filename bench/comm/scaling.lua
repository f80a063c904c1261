-- gpulua --ranks N bench/comm/scaling.lua monte_carlo|heat [size]: prints the seconds of the work.
-- monte_carlo: a call's price from `size` paths in all, 4e9 (strong scaling: the time falls with the ranks).
-- heat: 500 steps of the five-point stencil on `size` x `size` points of each rank, 8192, with the halo's exchange (weak scaling: the
-- time stays the same).
local gpu = require "gpu"
local comm = gpu.comm
local now = dofile((arg[0]:match "^.*/" or "") .. "clock.lua")

local work = {}

function work.monte_carlo(paths)
  gpu.random.seed(1)
  return function(count)
    return comm.mean(function(_, n)
      return gpu.maximum(100 * gpu.exp(-0.02 + 0.2 * gpu.randn(n)) - 100, 0)
    end, count or paths)
  end, math.min(paths, 2 ^ 26)
end

function work.heat(n)
  local u = gpu.rand(n + 2, n)
  return function(steps)
    for _ = 1, steps or 500 do
      if comm.size > 1 then comm.halo_(u, 1) end
      local inner = u("2:-2", "2:-2")
      inner:copy_(inner + 0.2 * (u("1:-3", "2:-2") + u("3:", "2:-2") + u("2:-2", "1:-3") + u("2:-2", "3:") - 4 * inner))
    end
    gpu.sync()
  end, 20
end

local name = arg[1]
local default = { monte_carlo = 4e9, heat = 8192 }
if not default[name] then error "expected monte_carlo or heat" end
local run, warm_up = work[name](tonumber(arg[2]) or default[name])
run(warm_up)
local best = math.huge
for _ = 1, 3 do
  comm.barrier()
  local start = now()
  run()
  best = math.min(best, comm.all_reduce(now() - start, "max"))
end
comm.print(("%.4f"):format(best))
