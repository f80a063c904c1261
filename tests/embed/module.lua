-- luajit module.lua path/to/libgpulua.so
local open = assert(package.loadlib(arg[1], "luaopen_gpu"))
local gpu = open()
assert(gpu == require "gpu" or gpu.version == require("gpu").version)
local x = gpu.range(1, 4)
gpu.kernel("__global__ void twice(long long* x) { x[threadIdx.x] *= 2; }", "twice") { grid = 1, block = 4 }(x)
local t = x:table()
assert(t[1] == 2 and t[4] == 8)
assert(not pcall(gpu.zeros, -1))
print "passed"
