# Sourced by the tests, with the build folder, cmake and luajit as arguments. Any command that fails fails the test.
set -eu
build=$1 cmake=$2 luajit=$3
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset LUA_INIT LUA_PATH LUA_CPATH LD_LIBRARY_PATH
sum='gpu.ones(3):sum():item()'

# expect NAME WANTED GOT
expect() {
  [ "$2" = "$3" ] && return
  printf 'FAILED: %s: expected %s, got %s\n' "$1" "$2" "$3"
  exit 1
}

# The command in $1/bin and the Lua module in the folder $2 of modules compute on the device that they find by themselves.
runs() {
  expect 'the command' 3 "$(cd / && "$1/bin/gpulua" -e "print($sum)")"
  expect 'the Lua module' 3 "$(cd / && "$luajit" -e "package.cpath = '$2/?.so' gpu = require 'gpu' print($sum)")"
}
