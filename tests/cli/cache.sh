# What the command says and does about a kernel cache that others could have written to.
source "$(dirname "$0")/check.sh"
export GPULUA_CACHE_DIR="$scratch/cache"

cat >"$scratch/two.lua" <<'LUA'
local gpu = require "gpu"
local x = gpu.zeros(2)
for i = 1, 2 do
  gpu.kernel(("__global__ void k(float* x) { x[%d] = %d; }"):format(i - 1, i), "k") {grid = 1, block = 1}(x)
end
print(x[1] + x[2])
LUA
entries() { find "$GPULUA_CACHE_DIR" -type f -name '[0-9a-f]*' | wc -l; }

check 'an empty cache' 0 3 '' "$scratch/two.lua"
kept=$(entries)
[ "$kept" -ge 2 ] || fail "expected entries for two kernels, got $kept"
check 'a cache of its own' 0 3 '' "$scratch/two.lua"
[ "$(entries)" = "$kept" ] || fail "expected $kept entries as before, got $(entries)"

chmod 777 "$GPULUA_CACHE_DIR"
check 'a cache that everybody may write to' 0 3 \
  "gpulua: the kernel cache does not use $GPULUA_CACHE_DIR, whose code would run as yours: it can be written to by others than you; 'chmod -R go-w' on it changes that" \
  "$scratch/two.lua"
rm -rf "$GPULUA_CACHE_DIR"
check 'a script that compiles nothing' 0 1 '' -e 'print(1)'

mkdir -p "$GPULUA_CACHE_DIR"
chmod 777 "$GPULUA_CACHE_DIR"
check 'nothing compiled, nothing said' 0 1 '' -e 'print(1)'
"$gpulua" "$scratch/two.lua" >/dev/null 2>&1
[ "$(entries)" = 0 ] || fail 'nothing is kept where everybody may write'
finish
