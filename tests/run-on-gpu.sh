#!/bin/bash
# The whole suite on the device that GPULUA_DEVICE names (cuda:0), with a staged build (tools/stage.sh): the C++ tests, the Lua
# specs, and the scripts. Prints a line for each and a summary; exits with 1 when one fails.
cd "$(dirname "$0")/.." || exit 1
. tools/gpu-env.sh
GPULUA_CACHE_DIR=$(mktemp -d)
export GPULUA_CACHE_DIR
logs=$(mktemp -d)

# Several at once: most of a spec's time is its kernels' compilation.
parallel=${GPULUA_TEST_JOBS:-$(($(nproc) < 10 ? $(nproc) : 10))}
run() {
  local name=$1 log start=$SECONDS
  log=$(mktemp -p "$logs" XXXXXX.log)
  shift
  if timeout 600 "$@" >"$log" 2>&1; then
    mv "$log" "${log%.log}.passed"
    echo "ok    $name ($((SECONDS - start)) s)"
  else
    mv "$log" "${log%.log}.failed"
    echo "FAIL  $name ($((SECONDS - start)) s)
$(tail -n "${GPULUA_TEST_LINES:-40}" "${log%.log}.failed" | sed 's/^/      /')"
  fi
}
try() {
  while [ "$(jobs -rp | wc -l)" -ge "$parallel" ]; do wait -n; done
  run "$@" &
}

# The cpu device's compiler is not part of a staged build.
api='~[endurance]' unit='' embed=''
if [ ! -e "$stage/bin/libgpulua-cpu-compiler.so" ]; then
  api="~[cpu]~[sandbox]$api" unit='~[cpu]'
  embed='~[host]~[rights]'  # a host's signals and arithmetic beside the cpu device
fi
# Alone: it compares how much memory the device has free.
run api env LD_LIBRARY_PATH="$stage/bin:$LD_LIBRARY_PATH" gpulua_api_test "$api"
try unit gpulua_unit $unit
try embed gpulua_embed_test $embed
try "embed gl" env LD_LIBRARY_PATH="$stage/bin:$LD_LIBRARY_PATH" gpulua_gl_threads_test
try particles env LD_LIBRARY_PATH="$stage/bin:$LD_LIBRARY_PATH" particles
for library in torch cupy; do
  python3 -c "import $library" 2>/dev/null || { echo "skip  dlpack $library: python3 has no $library"; continue; }
  try "dlpack $library" env PYTHONPATH=python LD_LIBRARY_PATH="$stage/bin:$LD_LIBRARY_PATH" python3 -B examples/python_dlpack/python_dlpack.py "$library"
done
for test in tests/cli/{options,errors,modules,interrupts,device_interrupt}.sh; do try "$test" bash "$test" "$stage/bin/gpulua"; done
for spec in tests/lua/*_spec.lua; do try "$spec" gpulua tests/lua/run.lua "$spec"; done
try docs gpulua tests/docs/run_examples.lua README.md docs/reference.md docs/guide.md
# Some scripts write a file where they run. Those with windows draw some frames without a display.
for script in scripts/*.lua; do
  frames=
  [[ $script == *_gl.lua ]] && frames=50
  try "$script" env --chdir="$logs" gpulua "$PWD/$script" $frames
done
wait
passed=$(find "$logs" -name '*.passed' | wc -l) failed=$(find "$logs" -name '*.failed' | wc -l)
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
