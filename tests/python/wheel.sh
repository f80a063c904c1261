#!/bin/bash
# tests/python/wheel.sh PYTHON BUILD_FOLDER VERSION
# Makes the wheel, installs it into a fresh virtual environment and tests it there. The environment sees the system's NumPy.
set -eu

source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$1" "$source/python/build_wheel.py" "$2" "$work" "$3"
"$1" -m venv --system-site-packages "$work/venv"
"$work/venv/bin/pip" install --quiet --no-index --no-deps --disable-pip-version-check "$work"/gpulua-*.whl
cd "$work"  # the source tree has a folder called gpulua
for tests in test_gpulua test_borrowed test_ends test_nested test_xp test_mistakes test_tracebacks; do "$work/venv/bin/python" "$source/tests/python/$tests.py"; done

# The package of the sources finds the library of a build by the loader's path, and says so where it does not.
PYTHONPATH="$source/python" LD_LIBRARY_PATH="$2/bin" "$1" -c 'import gpulua; assert gpulua.State("cpu").run("return 6 * 7") == 42'
if ! ldconfig -p | grep -q 'libgpulua\.so\.0'; then
  PYTHONPATH="$source/python" LD_LIBRARY_PATH= "$1" -c 'import gpulua' 2>&1 | grep -q 'LD_LIBRARY_PATH names the folder of one that is elsewhere'
fi

# A build without its library, or without any device, makes no wheel.
mkdir -p "$work/half/bin"
for library in libgpulua.so.0 libgpulua-cpu.so; do
  rm -f "$work/half/bin"/*
  cp "$2/bin/$library" "$work/half/bin"
  if "$1" "$source/python/build_wheel.py" "$work/half" "$work/none" "$3" 2>"$work/message" || ! grep -q 'build first' "$work/message"; then
    echo "expected no wheel of $library alone"
    exit 1
  fi
done
[ ! -e "$work/none" ]
