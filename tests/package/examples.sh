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

# The smallest one is the beginning of docs/embedding.md.
sed -n '/^```c$/,/^```$/{/^```$/q;/^```/!p}' "$source/docs/embedding.md" >"$scratch/host_minimal.c"
diff "$scratch/host_minimal.c" "$source/examples/host_minimal/host_minimal.c" || expect 'host_minimal' 'as in docs/embedding.md' 'the differences above'
expect 'host_minimal' 'the sum is 499500' "$(run host_minimal)"
run lua54_host
run particles 400 1000
if [ ! -e "$scratch/particles/particles_window" ] || ! command -v xvfb-run >/dev/null; then
  echo 'libglfw3-dev or xvfb is not installed: particles_window is not tested'
else
  expect 'particles_window' '2000 particles, 5 frames: within 0.00000 of where they should be' \
    "$(env -u WAYLAND_DISPLAY xvfb-run -a -s '-screen 0 800x800x24' "$scratch/particles/particles_window" 5 2000 | sed 's/, on .*//')"
fi
run pricing_service 40
# The package python3-numpy is of Debian's own Python.
PYTHONPATH="$source/python" LD_LIBRARY_PATH="$scratch/installed/lib" /usr/bin/python3 -B \
  "$source/examples/python_dlpack/python_dlpack.py" numpy
echo passed
