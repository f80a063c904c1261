# Sourced by the scripts here: gpulua in several processes, what it prints and how it ends.
gpulua=$1
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
failures=0

# check NAME RANKS STATUS PATTERN CODE: the outputs of the ranks, together, match the extended regular expression.
check() {
  printf '%s\n' "$5" >"$scratch/script.lua"
  local start=$SECONDS status=0
  timeout 120 "$gpulua" --ranks "$2" "$scratch/script.lua" >"$scratch/output" 2>&1 || status=$?
  if [ "$status" != "$3" ] || ! tr '\n' ' ' <"$scratch/output" | grep -Eq -- "$4"; then
    printf '%s: expected status %s and %s, got %s and:\n' "$1" "$3" "$4" "$status"
    cat "$scratch/output"
    failures=$((failures + 1))
  fi
  if [ $((SECONDS - start)) -gt "${limit:-10}" ]; then
    printf '%s took %s s\n' "$1" $((SECONDS - start))
    failures=$((failures + 1))
  fi
}

finish() { exit $((failures > 0)); }
