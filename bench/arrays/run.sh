#!/bin/bash
# bench/arrays/run.sh [-b build folder] [-t] [-l] [workload...]
#
# Array expressions beside the same in CuPy, PyTorch (eager and compiled), JAX and hand-written kernels on the device that
# GPULUA_DEVICE names, or on the cpu device beside NumPy, Numba and JAX: median milliseconds in one table, and each peer's time
# over ours. A side that is not installed is "-". All sides must agree on a number for each workload; "!" marks one that does not.
# -b: the build's folder; without it a staged build (tools/stage.sh) is used where there is one. -t: sizes that only check.
# -l: the workloads of libraries, beside NumPy, or CuPy and PyTorch, alone. Workloads: all of them where none is named.
set -u
cd "$(dirname "$0")/../.." || exit 1

build=
size=
libraries=
while getopts b:tl option; do
  case $option in
    b) build=$OPTARG ;;
    t) size=tiny ;;
    l) libraries=libraries ;;
    *) echo "usage: $0 [-b build folder] [-t] [-l] [workload...]" >&2; exit 2 ;;
  esac
done
shift $((OPTIND - 1))
workloads=("$@")
[ -n "$libraries" ] && [ $# = 0 ] && workloads=(gemm gemm64 gemm16 gemmcall batched fft16m fft2_4096 fft1009 inv solve cholesky eigvalsh
  svdvals inv8 det8 cholesky8 solve8 qr8 svdvals8 eigh16 lstsq spmv spmv_power spgemm label edt opening sosfilt sosfilt1000 resample32 peaks)
if [ -n "$build" ]; then
  PATH=$PWD/$build/bin:$PATH
elif [ -d "${GPULUA_STAGE:-stage}" ]; then
  . tools/gpu-env.sh
else
  PATH=$PWD/build/release/bin:$PATH
fi
export LUA_PATH="bench/arrays/?.lua;${LUA_PATH:-;}" PYTHONPATH=bench/arrays PYTHONDONTWRITEBYTECODE=1
python=python3
[ -x build/bench-venv/bin/python ] && python=$PWD/build/bench-venv/bin/python

data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
side() {
  local name=$1
  shift
  [[ $sides == *$name* ]] || return
  timeout 600 "$@" $size $libraries "${workloads[@]}" >"$data/$name" 2>"$data/$name.errors" || true
}

if [ "${GPULUA_DEVICE:-}" = cpu ]; then
  sides=${libraries:+ours numpy}
  sides=${sides:-ours numpy numba jax}
  side ours gpulua bench/arrays/ours.lua
  side numpy "$python" bench/arrays/peer_numpy.py cpu
  side numba "$python" bench/arrays/peer_numba.py cpu
  JAX_PLATFORMS=cpu side jax "$python" bench/arrays/peer_jax.py cpu
else
  sides=${libraries:+ours cupy torch}
  sides=${sides:-ours hand cupy torch compiled jax}
  side ours gpulua bench/arrays/ours.lua
  side hand gpulua bench/arrays/hand.lua
  side cupy "$python" bench/arrays/peer_cupy.py
  side torch "$python" bench/arrays/peer_torch.py
  side compiled "$python" bench/arrays/peer_torch.py compile
  XLA_PYTHON_CLIENT_PREALLOCATE=false side jax "$python" bench/arrays/peer_jax.py
fi

awk -v sides="$sides" -v folder="$data" '
  function near(a, b) { d = a - b; if (d < 0) d = -d; m = b < 0 ? -b : b; return d <= 1e-3 * (m > 1 ? m : 1) }
  BEGIN {
    count = split(sides, name, " ")
    for (s = 1; s <= count; ++s)
      while ((getline line < (folder "/" name[s])) > 0) {
        split(line, field, " ")
        if (!(field[1] in seen)) { seen[field[1]] = 1; order[++rows] = field[1] }
        time[field[1], s] = field[2]
        check[field[1], s] = field[3]
      }
    printf "%-16s", "ms"
    for (s = 1; s <= count; ++s) printf " %10s", name[s]
    printf "   over ours:"
    for (s = 2; s <= count; ++s) printf " %8s", name[s]
    print ""
    for (r = 1; r <= rows; ++r) {
      work = order[r]
      printf "%-16s", work
      for (s = 1; s <= count; ++s) {
        mark = ((work, s) in check) && ((work, 1) in check) && !near(check[work, s], check[work, 1]) ? "!" : ""
        printf " %10s", ((work, s) in time) ? sprintf("%.4g", time[work, s]) mark : "-"
      }
      printf "             "
      for (s = 2; s <= count; ++s)
        printf " %8s", ((work, s) in time) && ((work, 1) in time) ? sprintf("%.2f", time[work, s] / time[work, 1]) : "-"
      print ""
    }
  }'
for name in $sides; do
  [ -s "$data/$name.errors" ] && { echo "$name said:"; tail -5 "$data/$name.errors" | cut -c1-300; }
done
exit 0
