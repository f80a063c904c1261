# The variables of other launchers, and MPI libraries where they are installed: the suite in two processes of each.
# launchers.sh GPULUA torchrun|slurm|openmpi|mpich
gpulua=$1
suite=$(dirname "$0")/collectives.lua
launcher=$2
# Open MPI's mpiruns share a folder of TMPDIR, which one makes while another removes it.
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
output=$TMPDIR/output

# start NAME=VALUE...: both ranks, with %r for the rank.
start() {
  # What moves the elements is that of --ranks: a short suite.
  env "${@//%r/1}" timeout 120 "$gpulua" "$suite" 7 >>"$output" 2>&1 &
  env "${@//%r/0}" timeout 120 "$gpulua" "$suite" 7 >>"$output" 2>&1 && wait $!
}

mpi() {
  mpirun=("$@")
  timeout 240 "$@" "$gpulua" "$suite" >"$output" 2>&1
}

port=$((20000 + $$ % 20000))
case $launcher in
  torchrun) start RANK=%r WORLD_SIZE=2 LOCAL_RANK=%r LOCAL_WORLD_SIZE=2 MASTER_ADDR=localhost MASTER_PORT=$port ;;
  slurm) start SLURM_STEP_ID=0 SLURM_JOB_ID=$$ SLURM_PROCID=%r SLURM_NTASKS=2 SLURM_LOCALID=%r SLURM_STEP_NODELIST=localhost ;;
  openmpi) mpi mpirun.openmpi --oversubscribe --allow-run-as-root -n 2 ;;
  mpich) mpi mpirun.mpich -n 2 ;;
esac
status=$?
if [ $status != 0 ] || [ "$(grep -c '^done$' "$output")" != 1 ]; then
  echo "status $status"
  cat "$output"
  exit 1
fi

# fails NAME PATTERN CODE: the ranks end soon, with an error, and one of them says why.
fails() {
  timeout 30 "${mpirun[@]}" "$gpulua" -e "local gpu = require 'gpu' local comm, x = gpu.comm, gpu.ones(10) $3" >"$output" 2>&1
  status=$?
  if [ $status = 0 ] || [ $status = 124 ] || ! grep -Eq -- "$2" "$output"; then
    echo "$1: expected an error with $2, got status $status and:"
    cat "$output"
    exit 1
  fi
}
if [ ${#mpirun[@]} != 0 ]; then
  fails 'another call' '\[comm.(barrier|all_reduce)\] expected the same call on all ranks, got others on some' \
    'if comm.rank == 0 then comm.barrier() else comm.all_reduce(x) end'
  fails 'another size' '\[comm.all_reduce\] expected the same call on all ranks' 'comm.all_reduce(gpu.ones(10 + comm.rank))'
  fails 'an error of one rank' 'on purpose' 'if comm.rank == 1 then error "on purpose" end comm.barrier()'
  fails 'an error of one rank that others know' 'on purpose' 'comm.barrier() if comm.rank == 1 then error "on purpose" end comm.barrier()'
  fails 'kill -9' '[Kk]illed' 'comm.barrier() if comm.rank == 1 then os.execute "kill -9 $PPID" end comm.all_reduce(x)'
fi
