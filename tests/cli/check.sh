# Sourced by the tests, with the command's path as $1. A test ends with `finish`.
gpulua=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0
unset LUA_INIT

fail() {
  failures=$((failures + 1))
  printf 'FAILED: %s\n' "$1"
}

# check NAME CODE OUT ERR ARGUMENT...: runs the command with the arguments. It must exit with CODE; what it prints on stdout
# and stderr must match the glob patterns OUT and ERR, whole.
check() {
  local name=$1 code=$2 out=$3 err=$4 got=0
  shift 4
  "$gpulua" "$@" >"$scratch/out" 2>"$scratch/err" || got=$?
  matches "$name" "$code" "$out" "$err" "$got"
}

matches() {
  local name=$1 code=$2 out=$3 err=$4 got=$5 got_out got_err
  got_out=$(cat "$scratch/out")
  got_err=$(cat "$scratch/err")
  [ "$got" = "$code" ] || fail "$name: expected exit code $code, got $got; stderr: $got_err"
  # shellcheck disable=SC2053  # patterns
  [[ $got_out == $out ]] || fail "$name: expected on stdout: $out; got: $got_out"
  # shellcheck disable=SC2053
  [[ $got_err == $err ]] || fail "$name: expected on stderr: $err; got: $got_err"
}

# start NAME CODE: runs CODE, which prints a line when it is where a signal is to meet it; sets `process`. The test says
# `set -m`: a background job of a shell without job control ignores SIGINT.
start() {
  rm -f "$scratch/out"
  mkfifo "$scratch/ready"
  "$gpulua" -e "io.stdout:setvbuf('no') $2" >"$scratch/ready" 2>"$scratch/err" &
  process=$!
  exec 3<"$scratch/ready"
  rm "$scratch/ready"
  read -r _ <&3
  sleep 0.05  # the loop is to be compiled by then
}

# Sets `code`. A process that goes on is killed after a time that only a broken interrupt needs.
await() {
  timeout 20 tail -s 0.01 --pid="$process" -f /dev/null || kill -KILL "$process"
  code=0
  wait "$process" 2>/dev/null || code=$?
  cat <&3 >"$scratch/out"
  exec 3<&-
}

finish() {
  [ "$failures" = 0 ] || exit 1
  echo "passed"
}
