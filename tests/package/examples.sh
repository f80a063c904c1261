# examples.sh BUILD CMAKE LUAJIT: programs of examples/ are built against an installation, and run.
source "$(dirname "$0")/check.sh"
"$cmake" --install "$build" --prefix "$scratch/installed" >/dev/null

# run NAME ARGUMENT...
run() {
  local name=$1
  shift
  "$cmake" -S "$source/examples/$name" -B "$scratch/$name" -DCMAKE_PREFIX_PATH="$scratch/installed" -DCMAKE_BUILD_TYPE=Release >/dev/null
  "$cmake" --build "$scratch/$name" >/dev/null
  "$scratch/$name/$name" "$@"
}

run lua54_host
run pricing_service 40
echo passed
