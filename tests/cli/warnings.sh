# What the command says of kernels that the CPU device runs thread by thread, and that the compiler says nothing of others.
source "$(dirname "$0")/check.sh"
export GPULUA_DEVICE=cpu GPULUA_CACHE_DIR=$scratch/cache

cat >"$scratch/slow.lua" <<'LUA'
local gpu = require "gpu"
local text = [[
  __device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
  __global__ void slow(int* x) { x[threadIdx.x] = fib(10); }
  __global__ void plain(int* x) { x[threadIdx.x] += 1; }
]]
local options = { options = arg[1] and { arg[1] } }
local x = gpu.zeros(1, "int32")
for i = 1, 3 do
  local module = gpu.module(text, options)
  module.slow { grid = 1, block = 1 }(x)
  module.plain { grid = 1, block = 1 }(x)
end
print(x[1])
LUA
told="gpulua: $scratch/slow.lua:11: the kernel 'slow' runs thread by thread, several times slower than as vector code: recursion"
check 'once for each kernel' 0 56 "$told" "$scratch/slow.lua"
check 'from the cache, too' 0 56 "$told" "$scratch/slow.lua"
check 'an engine that was chosen' 0 56 '' "$scratch/slow.lua" --engine=scalar
check 'the checker' 0 56 '' --check "$scratch/slow.lua"
check 'a function for arrays' 0 8 "gpulua: (command line):4: the kernel 'gpulua_own_fib_kernel' runs thread by thread*: recursion" -e '
  local fib = gpu.elementwise { inputs = "int32 x", outputs = "int32 y", body = "y = fib(x)", name = "own_fib",
    preamble = "__device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }" }
  print(fib(gpu.full(1, 6, "int32")):item())'

# Searches that give the best point they have seen.
cat >"$scratch/search.lua" <<'LUA'
-- A line warns once.
for i = 1, 3 do
  gpu.optimize.minimize(function(x) return x:square():sum() end, gpu.ones(2), { maxiter = 1, method = "Nelder-Mead" })
end
gpu.optimize.minimize_scalar(math.sin, { bounds = { 3, 6 }, maxiter = 2 })
gpu.optimize.minimize(function(x) return x:square():sum() end, gpu.ones(2), { callback = function() return true end })
gpu.optimize.minimize(function(x) return x:square():sum() end, gpu.ones(2))
gpu.optimize.least_squares(function(x) return x:exp() - 1 end, { 9 }, { maxiter = 1 })
LUA
best='; the result is the best point so far, and the second result is the report'
said() { echo "gpulua: $scratch/search.lua:$1: [[]optimize.$2[]] expected a search that converges, got reason \"maxiter\" after $3 iterations$best"; }
check 'searches that fail' 0 '' "$(said 3 minimize 1)
$(said 5 minimize_scalar 2)
$(said 8 least_squares 1)" "$scratch/search.lua"

# Solvers and integrals that fail, and draws whose shape may be the last argument.
cat >"$scratch/failed.lua" <<'LUA'
for i = 1, 2 do
  gpu.integrate.solve_ivp(function(t, y) return -1e7 * y end, { 0, 10 }, { 1 }, { max_steps = 100 })
  gpu.integrate.quad(function(x) return 1 / x:abs():sqrt() end, -1, 1, { limit = 10, epsabs = 1e-14, epsrel = 1e-12 })
end
local A, b = gpu.sparse.diags({ gpu.linspace(1, 1000, 200) }, { 0 }, { 200, 200 }), gpu.ones(200)
gpu.sparse.linalg.cg(A, b, { maxiter = 2 })
gpu.sparse.linalg.cg(A, b, { maxiter = 1000 })
gpu.integrate.quad(function(x) return x end, 0, 1)
gpu.integrate.solve_ivp(function(t, y) return -y end, { 0, 1 }, { 1 })
gpu.random.exponential(3, 1000)
gpu.random.gamma(2, 3, 1000)
gpu.random.uniform(10, 0, 100)
gpu.random.normal({ 5 }, 2, 100)
gpu.random.poisson(5, 12)
LUA
failed() { echo "gpulua: $scratch/failed.lua:$1: [[]$2[]] expected $3"; }
check 'solvers and integrals that fail' 0 '' "$(failed 2 integrate.solve_ivp 'to reach t = 10, got reason "max_steps" at t = *a stiff problem asks for very short steps*')
$(failed 3 integrate.quad 'an integral within the tolerance, got reason "limit" with an error of about 0.0*')
$(failed 6 sparse.linalg.cg 'a solution within the tolerance, got reason "maxiter" after 2 steps with residual *')
$(failed 10 random.exponential 'the shape first: this call gives 3 numbers. 1000 of them are gpu.random.exponential(1000, 3); a table, {3}, says that the shape is meant')
$(failed 11 random.gamma 'the shape first: this call gives 2 numbers. 1000 of them are gpu.random.gamma(1000, 2, 3); a table, {2}, says that the shape is meant')" "$scratch/failed.lua"
for name in minres gmres bicgstab cgs lsqr; do
  check "$name that fails" 0 '' "gpulua: (command line):2: [[]sparse.linalg.$name[]] expected a solution within the tolerance*the second result is the report" -e "
    local x = gpu.sparse.linalg.$name(gpu.sparse.diags({ gpu.linspace(1, 1000, 200) }, { 0 }, { 200, 200 }), gpu.ones(200), { maxiter = 2 })"
done

# Ranges that leave out an element in Python.
cat >"$scratch/whole.lua" <<'LUA'
local x, m = gpu.arange(4), gpu.ones(2, 3)
for i = 1, 2 do print(x["1:"].size) end
print(x[":-1"].size)
print(m("1:-1", ":").size)
print(x[":"].size + x["2:"].size + x[":-2"].size + x["1:2"].size + x["::-1"].size + x["1:-1:2"].size + x({1, -1}).size)
LUA
whole() { echo "gpulua: $scratch/whole.lua:$1: [[]index[]] expected \":\" for a whole axis, got \"$2\": positions count from 1, and ends belong to the range; \"2:\" leaves the first element out, \":-2\" the last one"; }
check 'ranges that are whole' 0 "4
4
4
6
22" "$(whole 2 1:)
$(whole 3 :-1)
$(whole 4 1:-1)" "$scratch/whole.lua"

# MATLAB's first:step:last, where the last position stands in the place of the step.
cat >"$scratch/step.lua" <<'LUA'
local x = gpu.arange(11)
for i = 1, 2 do print(x["1:2:11"].size) end
print(x["2:3:9"].size)
print(x["1:2:12"].size + x["1:11:2"].size + x["3:2:11"].size + x["1:9:9"].size)
LUA
step() { echo "gpulua: $scratch/step.lua:$1: [[]index[]] \"$2\" is one element: the step $3 is greater than the range; the step comes last, \"$4\""; }
check 'a last position as a step' 0 "1
1
1
8" "$(step 2 1:2:11 11 1:11:2)
$(step 3 2:3:9 9 2:9:3)" "$scratch/step.lua"

# Loops that no pass can follow, and code that gcc and clang warn of.
cat >"$scratch/odd.lua" <<'LUA'
local gpu = require "gpu"
local k = gpu.kernel([[
  #pragma nonsense
  __device__ int never(int n) { for (;;) if (n == 0) return 1; }
  __device__ int no_result(int n) { if (n) return 1; }
  __global__ void k(int* x, int n) {
    int unused, i = threadIdx.x;
    #pragma unroll
    for (int k = 0; k < n; ++k) if (x[k % 3] == 7) return; else x[i] += k;
    #pragma clang loop vectorize(enable) interleave(enable)
    for (int k = 0; x[k % 5] < 3; k = x[k % 5] + k) x[i] += 1;
    #pragma clang loop unroll(full)
    while (x[i] < n) x[i] = x[i] * 2 + 1;
    #pragma clang loop distribute(enable)
    for (int k = 1; k < n; ++k) x[k] = x[k - 1] + x[i];
    volatile char many[40000]; many[i] = i; x[i] += many[i] * 0 + (n = 3) * 0;
  }
]], "k")
local x = gpu.full(9, 5, "int32")
k { grid = 1, block = 1 }(x, 6)
print "fine"
LUA
check 'the compiler prints nothing' 0 fine '' "$scratch/odd.lua"
check 'the compiler prints nothing, with the checker' 0 fine '' --check "$scratch/odd.lua"
check 'the compiler prints nothing, thread by thread' 0 fine '' -e "
  local text = assert(io.open('$scratch/odd.lua')):read('*a'):match('%[%[(.-)%]%]')
  gpu.kernel(text, 'k', {options = {'--engine=scalar', '-G', '-lineinfo'}})
  print 'fine'"
finish
