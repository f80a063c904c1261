#!/bin/bash
# bench/lua_functions/run.sh [-b build folder] [-t] [workload...]
#
# Lua functions as device code on the device that GPULUA_DEVICE names, beside the same text in CUDA C++ and beside Numba:
# milliseconds (first quartiles), ours over the string's (the two run in turn), and Numba's time over ours. "-": Numba is not installed, or has no
# such workload there; "!": it gives another number. -b: the build's folder; without it a staged build is used where there is one.
# -t: sizes that only check.
set -u
cd "$(dirname "$0")/../.." || exit 1

build=
size=
while getopts b:t option; do
  case $option in
    b) build=$OPTARG ;;
    t) size=tiny ;;
    *) echo "usage: $0 [-b build folder] [-t] [workload...]" >&2; exit 2 ;;
  esac
done
shift $((OPTIND - 1))
if [ -n "$build" ]; then PATH=$PWD/$build/bin:$PATH; elif [ -d stage ]; then . tools/gpu-env.sh; else PATH=$PWD/build/release/bin:$PATH; fi
export LUA_PATH="bench/arrays/?.lua;${LUA_PATH:-;}" PYTHONDONTWRITEBYTECODE=1
python=python3
[ -x build/bench-venv/bin/python ] && python=$PWD/build/bench-venv/bin/python
kind=gpu
[ "${GPULUA_DEVICE:-}" = cpu ] && kind=cpu

data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
timeout 600 gpulua bench/lua_functions/ours.lua $size "$@" >"$data/ours" || exit 1
timeout 600 "$python" bench/lua_functions/peer_numba.py $kind $size "$@" >"$data/numba" 2>"$data/errors" || true

awk -v folder="$data" '
  function near(a, b) { d = a - b; if (d < 0) d = -d; m = b < 0 ? -b : b; return d <= 1e-3 * (m > 1 ? m : 1) }
  BEGIN {
    while ((getline line < (folder "/numba")) > 0) {
      split(line, field, " ")
      time[field[1]] = field[2]
      check[field[1]] = field[3]
    }
    printf "%-16s %10s %10s %10s %11s %11s\n", "ms", "Lua", "C++ text", "Numba", "Lua/C++", "Numba/Lua"
    while ((getline line < (folder "/ours")) > 0) {
      split(line, field, " ")
      known = field[1] in time
      mark = known && !near(check[field[1]], field[4]) ? "!" : ""
      printf "%-16s %10s %10s %10s %11.3f %11s\n", field[1], field[2], field[3], known ? time[field[1]] mark : "-", field[2] / field[3],
        known ? sprintf("%.2f", time[field[1]] / field[2]) : "-"
    }
  }'
if [ -s "$data/errors" ]; then echo "Numba said:"; tail -3 "$data/errors" | cut -c1-300; fi
exit 0
