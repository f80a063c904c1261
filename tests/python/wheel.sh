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
"$work/venv/bin/python" "$source/tests/python/test_gpulua.py"
