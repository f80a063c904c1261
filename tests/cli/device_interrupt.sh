# Ctrl-C in a wait for the device, on the device that GPULUA_DEVICE names: the script stops, and so does the process.
source "$(dirname "$0")/check.sh"
set -m  # a background job of a shell without job control ignores SIGINT

# Hours of work on any device, in blocks of some milliseconds.
cat >"$scratch/busy.lua" <<'E2'
local gpu = require "gpu"
local busy = gpu.kernel([[
__global__ void busy(volatile int* x) {
  for (int i = 0; i < 1000000; ++i) x[0] = i;
}
]], "busy")
local x = gpu.zeros(1, "int32")
gpu.sync()
io.stdout:setvbuf "no"
print "ready"
busy { grid = 2000000000, block = 1 }(x)
gpu.sync()
E2

interrupted() {
  mkfifo "$scratch/ready"
  "$gpulua" "$scratch/$1" >"$scratch/ready" 2>"$scratch/err" &
  process=$!
  exec 3<"$scratch/ready"
  rm "$scratch/ready"
  read -r _ <&3
  sleep 0.3
  kill -INT "$process"
  timeout 20 tail -s 0.01 --pid="$process" -f /dev/null || kill -KILL "$process"
  code=0
  wait "$process" 2>/dev/null || code=$?
  cat <&3 >"$scratch/out"
  exec 3<&-
}

interrupted busy.lua
matches 'a wait for the device' 130 '' "gpulua: $scratch/busy.lua:1[12]: *interrupted*stack traceback:*" "$code"

sed -e '$d' "$scratch/busy.lua" >"$scratch/caught.lua"
sed -i -e '$d' "$scratch/caught.lua"
cat >>"$scratch/caught.lua" <<'E2'
local launch = busy { grid = 2000000000, block = 1 }
print(pcall(function() launch(x) gpu.sync() end))
print "the script goes on"
E2
interrupted caught.lua
matches 'pcall catches it' 0 $'false\t*interrupted*the script goes on' '' "$code"

finish
