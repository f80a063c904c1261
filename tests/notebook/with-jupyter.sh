#!/bin/sh
# tests/notebook/with-jupyter.sh [build folder]
#
# gpulua-kernel under today's Jupyter, from PyPI in a virtual environment of its own: the cases of jupyter_kernel_test. The suite
# has a test of its own, notebook, that needs Debian's packages alone.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../build/release}" && pwd)
venv=$build/jupyter-venv
[ -x "$venv/bin/python" ] || {
  /usr/bin/python3 -m venv "$venv"
  "$venv/bin/pip" install -q jupyter_kernel_test
}
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
export JUPYTER_DATA_DIR="$data" GPULUA_DEVICE="${GPULUA_DEVICE:-cpu}" GPULUA_CACHE_DIR="$build/cache"
"$build/bin/gpulua" --install-kernel
"$venv/bin/python" "$here/kernel_test.py" -v
