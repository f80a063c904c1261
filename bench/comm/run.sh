#!/bin/bash
# bench/comm/run.sh [RANKS...]: gpu.comm on the GPUs of this machine, one for each rank, beside NCCL in C++, with a staged build
# (tools/stage.sh). RANKS: 2, 4, ... as many as there are GPUs. First the tests, as times of wrong results mean nothing.
cd "$(dirname "$0")/../.." || exit 1
. tools/gpu-env.sh
gpus=$(nvidia-smi --list-gpus | wc -l)
ranks=("$@")
if [ $# = 0 ]; then
  for ((n = 2; n <= gpus; n *= 2)); do ranks+=("$n"); done
fi
if [ ${#ranks[@]} = 0 ]; then
  echo "expected two GPUs or more, got $gpus: one rank shows only what a call costs"
  ranks=(1)
fi
unset GPULUA_DEVICE  # each rank takes its own
strip_rank() { sed 's/^\[[0-9]*\] //'; }

for n in "${ranks[@]}"; do
  echo "== $n ranks: $(gpulua --ranks "$n" -e 'print(gpu.comm.transport())' | sort | tr '\n' ' ')"
  bash tests/comm/on_gpus.sh gpulua "$n" || exit 1

  echo "== all_reduce of float32 on $n ranks: gpu.comm beside ncclAllReduce in C++"
  echo "       bytes    ours us     C++ us  difference  bus GB/s  bandwidth to C++"
  bench_nccl "$n" >/tmp/bench_nccl.$$ || exit 1
  gpulua --ranks "$n" bench/comm/all_reduce.lua | strip_rank | join - /tmp/bench_nccl.$$ | awk -v n="$n" '
    { printf "%12d %10.2f %10.2f %11.2f %9.1f %17.3f\n", $1, $2, $3, $2 - $3, 2 * (n - 1) / n * $1 / $2 / 1e3, $3 / $2 }'
  rm /tmp/bench_nccl.$$
done

echo "== Monte Carlo, 4e9 paths: ranks, seconds, times faster than one"
alone=$(gpulua --ranks 1 bench/comm/scaling.lua monte_carlo | strip_rank)
echo "1 $alone 1"
for n in "${ranks[@]}"; do
  gpulua --ranks "$n" bench/comm/scaling.lua monte_carlo | strip_rank | awk -v n="$n" -v one="$alone" '{ print n, $1, one / $1 }'
done
echo "== heat, 8192 x 8192 points a rank, 500 steps: ranks, seconds, efficiency"
alone=$(gpulua --ranks 1 bench/comm/scaling.lua heat | strip_rank)
echo "1 $alone 1"
for n in "${ranks[@]}"; do
  gpulua --ranks "$n" bench/comm/scaling.lua heat | strip_rank | awk -v n="$n" -v one="$alone" '{ print n, $1, one / $1 }'
done
