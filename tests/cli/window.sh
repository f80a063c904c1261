#!/bin/bash
# window.sh GPULUA: windows on a display, which Xvfb makes, and what is said where something for them is missing.
set -u
gpulua=$1
folder=$(dirname "$0")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

# says TEXT COMMAND...: the command fails with that text.
says() {
  local text=$1 out
  shift
  if out=$("$@" 2>&1) || [[ $out != *"$text"* ]]; then
    printf 'expected a failure with: %s\ngot: %s\n' "$text" "$out"
    failures=$((failures + 1))
  fi
}

script() { "$gpulua" --device cpu -e "local gpu = require 'gpu' $1"; }
# without LIBRARY... -- SCRIPT: where these libraries are no libraries.
without() {
  local libraries="$scratch/libraries"
  rm -rf "$libraries"
  mkdir "$libraries"
  while [ "$1" != -- ]; do
    : >"$libraries/$1"
    shift
  done
  LD_LIBRARY_PATH="$libraries" script "$2"
}

says "[window] windows need EGL" without libEGL.so.1 -- 'gpu.window{headless = true}'
says "install it with: apt-get install libegl1" without libEGL.so.1 -- 'gpu.window{headless = true}'
says "[window] windows on a display need GLFW" without libglfw.so.3 -- 'gpu.window()'
says "install it with: apt-get install libglfw3; gpu.window{headless = true} needs no display" without libglfw.so.3 -- 'gpu.window()'
says "[window] windows on a display need GLFW" without libglfw.so.3 -- 'gpu.show(gpu.ones(2, 2))'
says "install it with: apt-get install libopengl0" without libOpenGL.so.0 libGL.so.1 -- 'gpu.window{headless = true}'
without libEGL.so.1 libOpenGL.so.0 libGL.so.1 libglfw.so.3 -- 'assert((gpu.ones(3) + 1):sum():item() == 6)' || failures=$((failures + 1))

[ "$failures" = 0 ] || exit 1
"$gpulua" --device cpu -e 'local made, why = pcall(require("gpu").window, {headless = true}) if not made then print(why) os.exit(77) end'
[ $? = 77 ] && exit 77
if ! ldconfig -p | grep -q 'libglfw\.so\.3'; then
  echo "libglfw3 is not installed: windows on a display are not tested"
  exit 77
fi
says "[window] GLFW finds no display" env -u DISPLAY -u WAYLAND_DISPLAY "$gpulua" --device cpu -e 'require("gpu").window()'
if ! command -v xvfb-run >/dev/null; then
  echo "xvfb is not installed: windows on a display are not tested"
  exit 77
fi
env -u WAYLAND_DISPLAY xvfb-run -a -s '-screen 0 640x480x24' "$gpulua" --device cpu "$folder/window.lua" || failures=$((failures + 1))
[ "$failures" = 0 ]
