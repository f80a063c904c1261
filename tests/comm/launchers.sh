# The variables of other launchers, and MPI libraries where they are installed: the suite in two processes of each.
# launchers.sh GPULUA torchrun|slurm|openmpi|mpich
gpulua=$1
suite=$(dirname "$0")/collectives.lua
launcher=$2
output=$(mktemp)
trap 'rm "$output"' EXIT

# start NAME=VALUE...: both ranks, with %r for the rank.
start() {
  # What moves the elements is that of --ranks: a short suite.
  env "${@//%r/1}" timeout 120 "$gpulua" "$suite" 7 >>"$output" 2>&1 &
  env "${@//%r/0}" timeout 120 "$gpulua" "$suite" 7 >>"$output" 2>&1 && wait $!
}

port=$((20000 + $$ % 20000))
case $launcher in
  torchrun) start RANK=%r WORLD_SIZE=2 LOCAL_RANK=%r LOCAL_WORLD_SIZE=2 MASTER_ADDR=localhost MASTER_PORT=$port ;;
  slurm) start SLURM_STEP_ID=0 SLURM_JOB_ID=$$ SLURM_PROCID=%r SLURM_NTASKS=2 SLURM_LOCALID=%r SLURM_STEP_NODELIST=localhost ;;
  openmpi) timeout 240 mpirun.openmpi --oversubscribe --allow-run-as-root -n 2 "$gpulua" "$suite" >"$output" 2>&1 ;;
  mpich) timeout 240 mpirun.mpich -n 2 "$gpulua" "$suite" >"$output" 2>&1 ;;
esac
status=$?
if [ $status != 0 ] || [ "$(grep -c '^done$' "$output")" != 1 ]; then
  echo "status $status"
  cat "$output"
  exit 1
fi
