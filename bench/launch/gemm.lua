-- Host time of a product of 16 x 16: from Lua, and by a C++ loop over cublasSgemm (gemm_loop.cpp).
--
--   LUA_PATH="bench/arrays/?.lua;bench/launch/?.lua;;" gpulua bench/launch/gemm.lua path/to/libbench_gemm_loop.so

local gpu = require "gpu"
local ffi = require "ffi"
local batches = require "batches"

ffi.cdef "double bench_gemm_loop(int calls);"
local baseline = ffi.load(arg[1])

local a, b, out = gpu.rand(16, 16):eval(), gpu.rand(16, 16):eval(), gpu.empty(16, 16)
local gemm, to_out = gpu.blas.gemm, { out = out }
gemm(a, b, to_out) -- loads cuBLAS
batches.compare("gpu.blas.gemm with out", batches.timed(function() gemm(a, b, to_out) end), "C++", baseline.bench_gemm_loop)
batches.compare("gpu.matmul", batches.timed(function() return a:matmul(b) end), "C++", baseline.bench_gemm_loop)
