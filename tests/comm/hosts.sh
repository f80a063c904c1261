# hosts.sh [GPULUA]: two hosts, each a network namespace with a name of its own, joined by a link: the suite by the variables of
# torchrun and Slurm and by mpirun, a killed rank, a link that is cut. By hand, as root (it makes the namespaces): not part of ctest.
set -e
here=$(cd "$(dirname "$0")" && pwd)
gpulua=$(realpath "${1:-$here/../../build/release/bin/gpulua}")
hosts=(gpulua-a gpulua-b)
TMPDIR=$(mktemp -d)
export TMPDIR
output=$TMPDIR/output

remove_hosts() {
  for host in "${hosts[@]}"; do
    ip netns del "$host" 2>/dev/null || true
    rm -rf "/etc/netns/$host"
  done
}
trap 'remove_hosts; rm -rf "$TMPDIR"' EXIT

remove_hosts
for host in "${hosts[@]}"; do
  ip netns add "$host"
  mkdir -p "/etc/netns/$host"  # `ip netns exec` shows it as /etc/hosts
  printf '127.0.0.1 localhost\n10.77.0.1 gpulua-a\n10.77.0.2 gpulua-b\n' >"/etc/netns/$host/hosts"
  ip -n "$host" link set lo up
done
ip -n gpulua-a link add link0 type veth peer name link0 netns gpulua-b
for number in 1 2; do
  ip -n "${hosts[number - 1]}" addr add 10.77.0.$number/24 dev link0
  ip -n "${hosts[number - 1]}" link set link0 up
done

# What mpirun calls for ssh: HOST COMMAND.
cat >"$TMPDIR/on" <<'ON'
#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
host=$1
shift
exec ip netns exec "$host" unshare -u sh -c 'hostname "$0"; exec sh -c "$1"' "$host" "$*"
ON
chmod +x "$TMPDIR/on"

# ranks CODE NAME=VALUE...: two ranks on each host, with %r, %l and %h for the rank, the local rank and the host.
ranks() {
  local code=$1 pids=() rank status=0
  shift
  for rank in 0 1 2 3; do
    local values=("${@//%r/$rank}")
    values=("${values[@]//%l/$((rank % 2))}")
    "$TMPDIR/on" "${hosts[rank / 2]}" "exec env ${values[*]} timeout 120 $gpulua $code" >"$output.$rank" 2>&1 &
    pids+=($!)
  done
  for rank in 0 1 2 3; do wait "${pids[rank]}" || status=$?; done
  cat "$output".? >"$output"
  return $status
}

# passes NAME COMMAND...: the suite ends well on all ranks. Rank 0 says so.
passes() {
  local name=$1
  shift
  if "$@" >"$output.log" 2>&1 && cat "$output.log" "$output" 2>/dev/null | grep -q '^done$'; then
    echo "ok: $name"
  else
    cat "$output.log" "$output"
    echo "failed: $name"
    exit 1
  fi
  rm -f "$output"*
}

suite="$here/collectives.lua 7"
torchrun=(RANK=%r WORLD_SIZE=4 LOCAL_RANK=%l LOCAL_WORLD_SIZE=2 MASTER_ADDR=gpulua-a MASTER_PORT=29500)
slurm=(SLURM_STEP_ID=0 SLURM_JOB_ID=$$ SLURM_PROCID=%r SLURM_NTASKS=4 SLURM_LOCALID=%l 'SLURM_STEP_NODELIST=gpulua-[a,b]')
passes torchrun ranks "$suite" "${torchrun[@]}"
passes Slurm ranks "$suite" "${slurm[@]}"
if command -v mpirun.openmpi >/dev/null; then
  passes 'Open MPI' "$TMPDIR/on" gpulua-a "mpirun.openmpi --allow-run-as-root --mca plm_rsh_agent $TMPDIR/on --host gpulua-a:2,gpulua-b:2 \
    --mca btl_tcp_if_include link0 --mca oob_tcp_if_include link0 -n 4 $gpulua $suite"
fi
if command -v mpirun.mpich >/dev/null; then
  passes MPICH "$TMPDIR/on" gpulua-a "mpirun.mpich -launcher ssh -launcher-exec $TMPDIR/on -hosts gpulua-a:2,gpulua-b:2 -n 4 $gpulua $suite"
fi

# fails NAME PATTERN CODE [NAME=VALUE...]: rank 0, on the other host than rank 3, says why the job has failed, in time.
fails() {
  local name=$1 pattern=$2 start=$SECONDS
  printf '%s\n' "local gpu = require 'gpu' local comm, x = gpu.comm, gpu.ones(10)" "$3" >"$TMPDIR/script.lua"
  shift 3
  if ranks "$TMPDIR/script.lua" "${torchrun[@]}" "$@" || ! grep -Eq -- "$pattern" "$output.0" || [ $((SECONDS - start)) -gt 10 ]; then
    cat "$output".?
    echo "failed: $name ($((SECONDS - start)) s), expected $pattern"
    exit 1
  fi
  echo "ok: $name"
}

fails 'an error' 'rank 3 has failed: .*script.lua:2: on purpose' \
  'comm.barrier() if comm.rank == 3 then error "on purpose" end comm.all_reduce(x)'
fails 'kill -9' 'rank 3 has failed: its process has ended' \
  'comm.barrier() if comm.rank == 3 then os.execute "kill -9 $PPID" end comm.all_reduce(x)'
fails 'a link that is cut' 'timed out after 3 s waiting for rank (2|3)' \
  'comm.barrier() if comm.rank == 3 then os.execute "ip link set link0 down" end comm.barrier() print(comm.all_reduce(x)[1])' \
  GPULUA_COMM_TIMEOUT=3
