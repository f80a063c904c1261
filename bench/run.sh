#!/bin/bash
# bench/run.sh [-l]
#
# The benches that have a peer on a machine with a GPU, with a staged build (tools/stage.sh). Each prints both sides and the ratio.
# -l: launches and what libraries do, alone: about two minutes.
cd "$(dirname "$0")/.." || exit 1
. tools/gpu-env.sh

ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.3f", a / b }'; }
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

echo "== host time of a launch with 5 arguments: from Lua, and by a C++ loop over cuLaunchKernel"
export LUA_PATH="bench/arrays/?.lua;bench/launch/?.lua;$LUA_PATH"
for _ in 1 2 3; do gpulua bench/launch/launch.lua "$stage/bin/libbench_launch_loop.so"; done

echo "== host time of a launch, without and with a trace that runs"
gpulua bench/launch/trace.lua

echo "== host time of a product of 16 x 16: from Lua, and by a C++ loop over cublasSgemm"
gpulua bench/launch/gemm.lua "$stage/bin/libbench_gemm_loop.so"
[ "${1:-}" = -l ] && exec bench/arrays/run.sh -l

echo "== the C interface: states, calls, and functions with one launch beside a C++ loop over cuLaunchKernel"
LD_LIBRARY_PATH="$stage/bin:$LD_LIBRARY_PATH" bench_embed

milliseconds() {
  local start end
  start=$(date +%s%N)
  "$@" >/dev/null || exit 1
  end=$(date +%s%N)
  awk -v t="$((end - start))" 'BEGIN { printf "%.2f\n", t / 1e6 }'
}
several() { for _ in 1 2 3 4 5 6 7; do milliseconds "$@"; done | median; }

echo "== process time (ms): gpulua -e ''"
several gpulua -e ''

echo "== process time to the first result, warm cache (ms): gpulua scripts/saxpy.lua 1024, C++ cuInit + primary context, ratio"
gpulua scripts/saxpy.lua 1024 >/dev/null
ours=$(several gpulua scripts/saxpy.lua 1024)
peer=$(several bench_init)
echo "$ours $peer $(ratio "$ours" "$peer")"
echo "   inside the C++ process, cuInit + primary context took $(bench_init) ms"

echo "== a frame of 1 M particles: a buffer that arrays and OpenGL share, copies, and C++ with the driver and EGL"
gpulua bench/graphics/frames.lua "$stage/bin/libbench_frames.so"

echo "== Lua functions as device code"
bench/lua_functions/run.sh

echo "== array expressions (ms), and each peer's time over ours"
bench/arrays/run.sh
