-- Functions that exist only in gpu.jit: positions of threads, memory of blocks, barriers, atomic operations. The translator knows
-- them by name; called on the host, they raise errors.
-- In sandboxes: none
local gpu, _, core = ...

local function of_devices(path, to, name)
  to[name] = function()
    core.raise(("[%s] expected a call in a kernel: gpu.jit(function(...) ... gpu.%s(...) ... end) makes one"):format(name, path))
  end
end

--- gpu.grid, gpu.grid_size, gpu.thread, gpu.block_index, gpu.block_size([axes])
--- gpu.lane, gpu.barrier, gpu.warp_barrier, gpu.fence()
--- gpu.shared, gpu.local_array(size, ...)
for _, name in ipairs {"grid", "grid_size", "thread", "block_index", "block_size", "lane", "barrier", "warp_barrier", "fence", "shared",
  "local_array"} do
  of_devices(name, gpu, name)
end
--- gpu.random.at(seed, sequence)
of_devices("random.at", gpu.random, "at")
local atomic, warp = gpu.atomic, gpu.warp
--- gpu.atomic.add, gpu.atomic.sub, gpu.atomic.max, gpu.atomic.min, gpu.atomic.band, gpu.atomic.bor(array, index, value)
--- gpu.atomic.bxor, gpu.atomic.exchange(array, index, value)
--- gpu.atomic.compare_exchange(array, index, expected, value)
for _, name in ipairs {"add", "sub", "max", "min", "band", "bor", "bxor", "exchange", "compare_exchange"} do
  of_devices("atomic." .. name, atomic, name)
end
--- gpu.warp.shuffle(value, lane)
--- gpu.warp.down, gpu.warp.up(value, distance)
--- gpu.warp.xor(value, mask)
--- gpu.warp.any, gpu.warp.all, gpu.warp.ballot(condition)
for _, name in ipairs {"shuffle", "down", "up", "xor", "any", "all", "ballot"} do of_devices("warp." .. name, warp, name) end
