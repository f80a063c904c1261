#!/bin/bash
# bench/cold/run.sh
#
# From a line to its first result with nothing compiled, in ms: ours, CuPy, PyTorch and JAX on a machine with a GPU, with a staged build
# (tools/stage.sh), and ten scripts with an empty cache and with a full one.
cd "$(dirname "$0")/../.." || exit 1
. tools/gpu-env.sh
GPULUA_CACHE_DIR=$(mktemp -d) CUPY_CACHE_DIR=$(mktemp -d)
export GPULUA_CACHE_DIR CUPY_CACHE_DIR

gpulua bench/cold/lines.lua >"$GPULUA_CACHE_DIR/ours"
for peer in cupy torch jax; do python3 bench/cold/lines.py "$peer" >"$GPULUA_CACHE_DIR/$peer" 2>/dev/null; done
echo "line, ms: ours, CuPy, PyTorch, JAX"
awk '{ t[$1] = t[$1] " " $2; if (!n[$1]++) order[++k] = $1 } END { for (i = 1; i <= k; ++i) print order[i] t[order[i]] }' \
  "$GPULUA_CACHE_DIR"/{ours,cupy,torch,jax}

echo "script, s: with an empty cache, and again"
for script in american_lsm black_scholes fft_convolve heston kmeans least_squares mandelbrot monte_carlo pca poisson_cg; do
  GPULUA_CACHE_DIR=$(mktemp -d)
  line=$script
  for _ in 1 2; do
    start=$(date +%s%N)
    gpulua "scripts/$script.lua" >/dev/null || line="$line failed:"
    line="$line $(awk -v t="$(($(date +%s%N) - start))" 'BEGIN { printf "%.2f", t / 1e9 }')"
  done
  echo "$line"
done
