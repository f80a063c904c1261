#!/bin/bash
# The whole suite on the device that GPULUA_DEVICE names (cuda:0), with a staged build (tools/stage.sh): the C++ tests, the Lua
# specs, and the scripts. Prints a line for each and a summary; exits with 1 when one fails.
cd "$(dirname "$0")/.." || exit 1
. tools/gpu-env.sh
GPULUA_CACHE_DIR=$(mktemp -d)
export GPULUA_CACHE_DIR
logs=$(mktemp -d)

passed=0 failed=0
try() {
  local name=$1 start=$SECONDS
  shift
  if timeout 300 "$@" >"$logs/log" 2>&1; then
    passed=$((passed + 1))
    echo "ok    $name ($((SECONDS - start)) s)"
  else
    failed=$((failed + 1))
    echo "FAIL  $name ($((SECONDS - start)) s)"
    tail -n "${GPULUA_TEST_LINES:-40}" "$logs/log" | sed 's/^/      /'
  fi
}

# The cpu device's compiler is not part of a staged build.
if [ -e "$stage/bin/libgpulua-cpu-compiler.so" ]; then try unit gpulua_unit; else try unit gpulua_unit '~[cpu]'; fi
try embed gpulua_embed_test
for test in tests/cli/{options,errors,modules,interrupts,device_interrupt}.sh; do try "$test" bash "$test" "$stage/bin/gpulua"; done
for spec in tests/lua/*_spec.lua; do try "$spec" gpulua tests/lua/run.lua "$spec"; done
try docs gpulua tests/docs/run_examples.lua README.md docs/reference.md docs/guide.md
# Some scripts write a file where they run.
for script in scripts/*.lua; do try "$script" env --chdir="$logs" gpulua "$PWD/$script"; done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
