# What gpu.comm computes with random numbers does not depend on the number of ranks: equal bits for 1, 2, 3, 4 and 8.
source "$(dirname "$0")/check.sh"
limit=30

script='
local gpu = require "gpu"
local comm = gpu.comm
gpu.random.seed(5)
local function payoff(first, count)
  local z = gpu.randn(count)
  return gpu.maximum(100 * gpu.exp(0.2 * z) - 100, 0), z * (first % 7)
end
local price, other = comm.mean(payoff, 300001)
local again = comm.sum(payoff, 5000)
local draw = comm.all_gather(comm.rand(1001)):sum():item()
local state = gpu.random.state()
comm.print(("%a %a %a %a %s %s"):format(price, other, again, draw, tostring(state.seed), tostring(state.offset)))'

printf '%s\n' "$script" >"$scratch/alone.lua"
expected=$("$gpulua" "$scratch/alone.lua") || exit 1  # without a launcher
for ranks in 1 2 3 4 8; do
  check "$ranks ranks" "$ranks" 0 "^\[0\] $(printf %s "$expected" | sed 's/[+.]/\\&/g') *\$" "$script"
done
finish
