#!/bin/bash
# bench/cpu_device/run.sh [-b build folder] [-t] [-1] [-2] [workload...]
#
# The CPU device beside the same work by g++ with OpenMP, Numba and JAX: all sides on all cores, in one table of median times.
# The sides take turns for several rounds, so that what else the machine does meanwhile meets them all. Each side checks its
# results against those of g++ before it is timed. -t: one round, of sizes so small that only the check means something.
# -1: on one core, with smaller arrays, which the caches hold. -2: with AVX2 and without AVX-512, on all sides. The
# workload "compile" is how long a kernel takes from its source to where it can be launched.
#
# The Python sides run in an environment that is made with pip in build/bench-venv; without it their columns are n/a.
set -u
cd "$(dirname "$0")/../.." || exit 1

# name, variant, size, size with -t; workloads/NAME.cpp says what the first two mean.
workloads="
saxpy         -        50331648  100000
black_scholes float32   4000000   10000
black_scholes float64   4000000   10000
mandelbrot    -            1024      64
matmul        16           1024      64
matmul        32           1024      64
reduction     tree     33554432  100000
reduction     shuffle  33554432  100000
reduction     tree-each     33554432  100000
reduction     shuffle-each  33554432  100000
histogram     global   67108864  100000
histogram     shared   67108864  100000
nbody         -              20       5
stencil       -        16777216  100000
softmax       thread       8192      64
softmax       block        8192      64
columns       -            2048     128
floyd_warshall -            512      64
hotspot       -            2400     120
bitonic       -         1048576    4096
$(for loop in copy triad axpy stencil3 stencil7 jacobi fdtd normalise maxpool upsample convolution im2col gemm atax spmv; do
  echo loops $loop 16777216 100000
done)
"

build=build/release
tiny=
rounds=5
cores=()
level=
while getopts b:t12 option; do
  case $option in
    b) build=$OPTARG ;;
    t) tiny=1 rounds=1 ;;
    1) cores=(taskset -c "$(($(nproc) - 1))") ;;
    2) level=_avx2 ;;
    *) echo "usage: $0 [-b build folder] [-t] [-1] [-2] [workload...]" >&2; exit 2 ;;
  esac
done
shift $((OPTIND - 1))
for name in "$@"; do
  [ "$name" = compile ] || grep -q "^$name " <<<"$workloads" || { echo "$0: no workload '$name'" >&2; exit 2; }
done
wanted() {
  local first=$1
  shift
  [ $# = 0 ] || [[ " $* " == *" $first "* ]]
}

[ -x "$build/bin/gpulua" ] || { echo "$0: no $build/bin/gpulua: build it (make) or give the build folder by -b" >&2; exit 1; }

venv=build/bench-venv
requirements=bench/cpu_device/requirements.txt
python=$venv/bin/python
if ! cmp -s "$requirements" "$venv/installed.txt"; then
  echo "installing Numba and JAX in $venv" >&2
  if python3 -m venv "$venv" && "$python" -m pip install -q --disable-pip-version-check -r "$requirements"; then
    cp "$requirements" "$venv/installed.txt"
  else
    echo "pip failed: no Numba and no JAX in this run" >&2
    python=
  fi
fi

data=$(mktemp -d "$build/bench-data.XXXXXX") || exit 1
trap 'rm -rf "$data"' EXIT

export GPULUA_DEVICE=cpu GPULUA_CACHE_DIR=$data/cache
export LUA_PATH="bench/cpu_device/?.lua;;"
export PYTHONPATH=bench/cpu_device PYTHONDONTWRITEBYTECODE=1 JAX_PLATFORMS=cpu

if [ -n "$level" ]; then
  export GPULUA_CPU_TARGET=x86-64-v3 XLA_FLAGS=--xla_cpu_max_isa=AVX2
  export NUMBA_CPU_NAME=x86-64-v3 NUMBA_CPU_FEATURES=+avx2,+fma,+bmi,+bmi2,+f16c,-avx512f
fi
if [ ${#cores[@]} != 0 ]; then export OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1; fi

# side LABEL COMMAND...: a round: adds the milliseconds that the command prints to $data/LABEL.times; or nothing, and the reason
# to $data/reasons.
side() {
  local label=$1 time reason
  shift
  if [ ! -x "$1" ]; then
    reason="${1:-python} is not there"
  elif time=$("${cores[@]}" "$@" 2>"$data/errors"); then
    echo "$time" >>"$data/$label.times"
    return
  elif grep -q '^Traceback' "$data/errors"; then
    reason=$(tail -1 "$data/errors") # Python's message stands below the traceback, Lua's above it.
  else
    reason=$(head -1 "$data/errors")
  fi
  echo "$label n/a: $reason" >>"$data/reasons"
}

# time_of LABEL: the median of the side's rounds; n/a where one failed.
time_of() {
  if grep -q "^$1 n/a" "$data/reasons"; then echo n/a; else median_of "$data/$1.times"; fi
}

median_of() { sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# A time for the table: n/a and - stay as they are.
number() { if [[ $1 == [0-9]* ]]; then printf '%.2f' "$1"; else echo "$1"; fi; }
# ratio A B: A / B, or - where one is missing.
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { if (a + 0 > 0 && b + 0 > 0) printf "%.3g", a / b; else print "-" }'; }
row() { printf '%-22s %9s  %9s %9s %9s %9s   %8s %10s %8s\n' "$@"; }

table() {
  row workload size "ours ms" "g++ ms" "numba ms" "jax ms" "g++/ours" "numba/ours" "jax/ours"
  local name variant size small ours gcc numba jax round
  while read -r name variant size small; do
    [ -n "$name" ] || continue
    wanted "$name" "$@" || continue
    [ ${#cores[@]} = 0 ] || [ "$name" != loops ] || size=2097152
    [ -z "$tiny" ] || size=$small
    local arguments=("$data" "$size" "$variant") files=bench/cpu_device/workloads/$name
    : >"$data/reasons"
    rm -f "$data"/*.times
    for ((round = 0; round < rounds; round++)); do
      side g++ "$build/bin/bench_cpu_$name$level" "${arguments[@]}"
      side ours "$build/bin/gpulua" "$files.lua" "${arguments[@]}"
      [ ! -e "$files.py" ] || side numba "$python" "$files.py" "${arguments[@]}"
      [ ! -e "${files}_jax.py" ] || side jax "$python" "${files}_jax.py" "${arguments[@]}"
    done
    gcc=$(time_of g++)
    ours=$(time_of ours)
    numba=- jax=-
    [ ! -e "$files.py" ] || numba=$(time_of numba)
    [ ! -e "${files}_jax.py" ] || jax=$(time_of jax)
    [ "$variant" = - ] || name="$name $variant"
    row "$name" "$size" "$(number "$ours")" "$(number "$gcc")" "$(number "$numba")" "$(number "$jax")" \
      "$(ratio "$gcc" "$ours")" "$(ratio "$numba" "$ours")" "$(ratio "$jax" "$ours")"
    sort -u "$data/reasons" | sed 's/^/    /'
  done <<<"$workloads"
}

compile() {
  local first second
  for _ in 1 2 3 4 5; do
    rm -rf "$GPULUA_CACHE_DIR"
    read -r first second < <("$build/bin/gpulua" bench/cpu_device/compile.lua)
    echo "$first" >>"$data/first"
    echo "$second" >>"$data/second"
    read -r first second < <("$build/bin/gpulua" bench/cpu_device/compile.lua)
    echo "$first" >>"$data/disk"
  done
  echo "from source to runnable, 30 lines (ms; medians of 5 processes)"
  echo "  first kernel of a process, empty cache   $(median_of "$data/first")"
  echo "  second kernel of the process             $(median_of "$data/second")"
  echo "  first kernel of a process, disk cache    $(median_of "$data/disk")"
}

processor=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)
echo "$processor, $(nproc) cores, load average $(cut -d' ' -f1 /proc/loadavg) before the run"
if [ $# = 0 ] || [ "$*" != compile ]; then table "$@"; fi
if wanted compile "$@"; then compile; fi
