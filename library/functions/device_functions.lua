-- What functions of gpu.jit have and the host has not: positions of threads, memory of blocks, barriers, atomic operations. The
-- translation knows these functions by name; called on the host, they are errors.
local gpu, _, core = ...

local function of_devices(path, to, name)
  to[name] = function()
    core.raise(("[%s] expected a call in a kernel: gpu.jit(function(...) ... gpu.%s(...) ... end) makes one"):format(name, path))
  end
end

for _, name in ipairs {"grid", "grid_size", "thread", "block_index", "block_size", "lane", "barrier", "warp_barrier", "fence", "shared",
  "local_array"} do
  of_devices(name, gpu, name)
end
of_devices("random.at", gpu.random, "at")
local atomic, warp = gpu.atomic, gpu.warp
for _, name in ipairs {"add", "sub", "max", "min", "band", "bor", "bxor", "exchange", "compare_exchange"} do
  of_devices("atomic." .. name, atomic, name)
end
for _, name in ipairs {"shuffle", "down", "up", "xor", "any", "all", "ballot"} do of_devices("warp." .. name, warp, name) end
