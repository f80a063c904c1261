# Saving where there is no room is an error, and leaves neither a part of a file nor a crash behind. The limit of a file's size stands
# for the disk's; the signal that comes with it is ignored, as of a disk.
source "$(dirname "$0")/check.sh"
export GPULUA_DEVICE=cpu GPULUA_CACHE_DIR=$scratch/cache
trap '' XFSZ
cat >"$scratch/save.lua" <<'LUA'
local gpu = require "gpu"
local folder = ...
local long, random = gpu.ones(200000), gpu.rand(200000)
local small = {}
for i = 1, 500 do small["x" .. i] = gpu.ones(20) end
local columns = gpu.table {a = gpu.arange(30000), b = gpu.rand(30000)}
local picture = (gpu.rand(300, 300, 3) * 255):astype "uint8"
local saves = {
  {gpu.save, "x.npy", long}, {gpu.save, "x.npz", {x = long}}, {gpu.save, "compressed.npz", {x = random}, {compress = true}},
  {gpu.save, "x.csv", columns}, {gpu.save, "x.tsv", columns}, {gpu.save, "x.safetensors", {x = long}}, {gpu.save, "x.bin", long},
  {gpu.save, "x.h5", {x = long}}, {gpu.save, "many.h5", small}, {gpu.image.save, "x.png", picture},
}
for _, save in ipairs(saves) do
  local fn, name, value, options = unpack(save)
  local ok, why = pcall(fn, folder .. "/" .. name, value, options or {})
  if ok or not why:find("cannot write", 1, true) then print(name, why) end
end
-- And goes on.
assert(gpu.save(folder .. "/small.h5", {x = gpu.ones(3)}))
assert(gpu.load(folder .. "/small.h5").x:sum():item() == 3)
LUA
mkdir "$scratch/disk"
ulimit -f 40  # blocks of 1024 bytes; the output and the kernel cache need less
check 'no room' 0 '' '' "$scratch/save.lua" "$scratch/disk"
[ "$(ls -A "$scratch/disk")" = small.h5 ] || fail "expected one file on the disk, got $(ls -A "$scratch/disk" | tr '\n' ' ')"
finish
