# on_gpus.sh [GPULUA] [RANKS]: gpu.comm on the GPUs of this machine, one rank each: the suite, failures, and the scripts against their
# single processes. Not part of ctest, which needs no GPU.
set -e
here=$(cd "$(dirname "$0")" && pwd)
gpulua=${1:-$here/../../build/release/bin/gpulua}
ranks=${2:-$(nvidia-smi --list-gpus | wc -l)}

"$gpulua" --ranks "$ranks" "$here/collectives.lua"
"$gpulua" --ranks "$ranks" "$here/derivatives.lua"
bash "$here/failures.sh" "$gpulua"
"$gpulua" --ranks "$ranks" "$here/../../scripts/heat_ranks.lua" 4096 500
"$gpulua" --ranks "$ranks" "$here/../../scripts/kmeans_ranks.lua"
"$gpulua" --ranks "$ranks" "$here/../../scripts/monte_carlo_ranks.lua" 400000000
