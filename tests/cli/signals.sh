# The CPU device and the process: Ctrl-C in kernels and in the compiler, faults, what the compiler's library prints.
source "$(dirname "$0")/check.sh"
set -m
export GPULUA_DEVICE=cpu GPULUA_CACHE_DIR=$scratch/cache
ulimit -c 0

# stopped NAME PATTERN CODE [DELAY]: a Ctrl-C, DELAY after CODE has printed a line, ends CODE with an error like PATTERN.
stopped() {
  start "$1" "$3"
  sleep "${4:-0.1}"
  kill -INT "$process"
  await
  matches "$1" 130 '' "gpulua: (command line):[0-9]*: $2*stack traceback:*" "$code"
}

spinning='local k = gpu.kernel([[__global__ void k(int* x) {
    volatile int* v = x;
    while (v[threadIdx.x] == 0);
  }]], "k")
  local x = gpu.zeros(128, "int32")
  print()
  '
for blocks in 1 64; do
  stopped "fibers of $blocks blocks" '*interrupted' "$spinning k {grid = $blocks, block = 128}(x)"
done
stopped 'fibers, from a compiled loop' '*interrupted' "$spinning k = k {grid = 2, block = 128} for i = 1, 1e9 do k(x) end"
stopped 'fibers in a coroutine' '*interrupted' "$spinning coroutine.wrap(function() k {grid = 8, block = 128}(x) end)()"

# waiting NAME BODY OPTIONS [LAUNCH [BEFORE]]: a kernel whose threads go on meeting, and so make progress, for hours.
waiting() {
  stopped "$1" '[[]launch] interrupted' "${5-} local k = gpu.kernel([[
    #include <cooperative_groups.h>
    namespace cg = cooperative_groups;
    __global__ void k(int* x) {
      int v = x[threadIdx.x];
      for (long long i = 0; i < (1LL << 40); ++i) { $2 }
      x[threadIdx.x] = v;
    }]], 'k', {options = {$3}})
    local x = gpu.zeros(128, 'int32')
    gpu.sync()
    print()
    k {grid = 4, block = 128, cooperative = true, $4}(x)"
}
scalar='"--engine=scalar"'
waiting 'shuffles' 'v = __shfl_sync(~0u, v, (threadIdx.x + 1) & 31) + 1;' "$scalar"
waiting 'shuffles of one lane' 'v = __shfl_sync(1u, v, 0) + 1;' "$scalar" 'block = 1'
waiting 'ballots' 'v += __ballot_sync(~0u, v & 1);' "$scalar"
waiting 'barriers of warps' '__syncwarp(); v += i;' "$scalar"
waiting 'shuffles, checked' 'v = __shfl_sync(~0u, v, (threadIdx.x + 1) & 31) + 1;' '' '' 'gpu.check(true)'
waiting 'barriers of the grid' 'cg::this_grid().sync(); v += i;' ''
waiting 'barriers of the grid, thread by thread' 'cg::this_grid().sync(); v += i;' "$scalar"
waiting 'barriers of the grid, one block' 'cg::this_grid().sync(); v += i;' '' 'grid = 1'
waiting 'barriers of tiles' 'cg::tiled_partition<64>(cg::this_thread_block()).sync(); v += i;' ''
waiting 'barriers of the block, thread by thread' '__syncthreads(); v += i;' "$scalar"
stopped 'many short launches' '*interrupted' 'local x = gpu.zeros(10) print() while true do x = (x + 1):eval() end'
stopped 'gpu.sync' '*interrupted' 'local x = gpu.zeros(10) print() while true do gpu.sync() end'

start 'a kernel without an end' 'local k = gpu.kernel("__global__ void k(volatile int* x) { for (;;) x[0] = x[0] + 1; }", "k")
  local x = gpu.zeros(1, "int32")
  print()
  k {grid = 1, block = 1}(x)'
kill -INT "$process"
sleep 0.2
kill -INT "$process"
await
matches 'a second Ctrl-C ends a kernel without an end' 130 '' '' "$code"

start 'a finalizer' 'local p = newproxy(true)
  getmetatable(p).__gc = function() print() local x = gpu.zeros(10) while true do x = (x + 1):eval() end end
  p = nil
  collectgarbage()'
kill -INT "$process"
sleep 0.2
kill -INT "$process" 2>/dev/null
await
[ "$code" = 130 ] || [ "$code" = 0 ] || fail "Ctrl-C in a finalizer: exit code $code"

# Many seconds of compiling: the error comes at once all the same.
long='local lines = {}
  for i = 1, 3000 do lines[i] = ("  y += x[(i * %d) %% n] * sinf(y + %d); if (y > %d) x[i] = y;"):format(i, i, i) end
  local text = "__global__ void k(float* x, int n) { int i = threadIdx.x; float y = x[i];\n" .. table.concat(lines, "\n") .. " x[i] = y; }"
  print() '
start 'a compilation' "$long gpu.kernel(text, 'k')"
sleep 1
kill -INT "$process"
await
matches 'Ctrl-C in a compilation' 130 '' 'gpulua: (command line):[0-9]*: [[]compile] interrupted*' "$code"
start 'a compilation, caught' "$long
  local good, message = pcall(gpu.kernel, text, 'k')
  print(good, message, gpu.ones(3):sum():item())"
sleep 1
kill -INT "$process"
await
matches 'the script goes on after an interrupted compilation' 0 $'false\t*[[]compile] interrupted\t3' '' "$code"

# failing BODY PATTERN: the error of the launch.
failing() {
  check "$1" 0 "*[[]launch] kernel 'k': $2*15" '' -e "
    local k = gpu.kernel([[__global__ void k(int* x) { $1 }]], 'k')
    local x = gpu.zeros(100, 'int32')
    print(select(2, pcall(function() k {grid = 2, block = 32}(x) gpu.sync() end)))
    print(gpu.full(5, 3):sum():item())"
}
failing '__builtin_trap();' '__builtin_trap() was called'
failing 'if (x[threadIdx.x] == threadIdx.x) __builtin_trap(); x[1] = 2;' '__builtin_trap() was called'
failing '__syncthreads(); if (threadIdx.x == 3) __builtin_trap(); __syncthreads();' '__builtin_trap() was called'
failing '__builtin_debugtrap(); x[0] = 1;' '__builtin_debugtrap() was called'
failing 'char* p = (char*)malloc(10); *(volatile char*)p = 1; free(p); free(p);' 'free of a pointer that malloc did not give'
failing 'free(x + 1);' 'free of a pointer that malloc did not give'
failing 'volatile char* p = (char*)malloc(10); p[x[0] + 17] = 1; free((void*)p);' 'free of memory that something has written past'
failing 'volatile int* p = x; p[threadIdx.x + 1000000000] = 1;' 'access to memory that is not there'
failing 'volatile int* p = (int*)(long long)x[0]; p[16] = 1;' 'access to memory that is not there at address 0x40, next to the null pointer (gpu.null); gpulua --check'

check 'a store past the end' 1 '' 'gpulua: (command line):3: [[]launch] kernel *k* has written past the end of an array of 400 bytes made at (command line):2;*gpulua --check*' -e '
  local x = gpu.zeros(100)
  gpu.kernel("__global__ void k(float* x) { x[threadIdx.x] = 1; }", "k") {grid = 1, block = 108}(x)
  x:free()
  gpu.sync()'
check 'a store past the end of an array that lives' 1 '' 'gpulua: *[[]memory] a kernel has written past the end of an array of 4000 bytes made*' -e '
  local x = gpu.zeros(1000)
  gpu.kernel("__global__ void k(float* x) { x[1000] = 1; }", "k") {grid = 1, block = 1}(require("ffi").cast("void*", x.pointer))
  gpu.sync()'

check 'a store past the end that nothing waits for' 1 'done' 'gpulua: *[[]memory] a kernel has written past the end of an array of 4000 bytes made at (command line):2; gpulua --check*' -e '
  x = gpu.zeros(1000)
  gpu.kernel("__global__ void k(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] = 1; }", "k"):over(1000)(
    require("ffi").cast("void*", x.pointer))
  print "done"'
check 'an index out of range that nothing waits for' 1 'done' 'gpulua: *out of range*' -e '
  x = gpu.eval(gpu.ones(4)[gpu.array({1, 9}, "int32")])
  print "done"'
check 'a launch whose arguments fail' 1 '' 'gpulua: (command line):3: [[]Out]*' -e '
  local gpu, k = require "gpu", require("gpu").kernel("__global__ void k(float* x) { x[0] = 1; }", "k")
  k {grid = 1, block = 1}(gpu.Out(0))'
check 'a launch that is never called' 0 'done' 'gpulua: *:3: [[]k] a launch was made and never called*k{grid=..., block=...}(arguments)' -e '
  local k = gpu.kernel("__global__ void k(float* x) { x[0] = 1; }", "k")
  k {grid = 1, block = 1}
  k {grid = 1, block = 1}(gpu.zeros(1))
  k:over(0)(gpu.zeros(1))
  print "done"'

check 'LLVM prints nothing' 0 '' '' -e '
  pcall(gpu.module, "__global__ void k(int* x) { volatile char a[1 << 27]; a[x[0]] = 1; x[0] = a[5]; }")'
check 'source that nests deeply' 0 'false*[[]compile] *' '' -e '
  local text = "__global__ void k(int* x) { " .. ("if (x[0]) "):rep(20000) .. "x[1] = 1; }"
  print(pcall(gpu.module, text))'
mkdir "$scratch/gone" && cd "$scratch/gone" && rmdir "$scratch/gone"
check 'a working directory that was removed' 0 '1' '' -e '
  local x = gpu.zeros(1)
  gpu.kernel("__global__ void k(float* x) { x[0] = 1; }", "k") {grid = 1, block = 1}(x)
  print(x[1])'
cd /
finish
