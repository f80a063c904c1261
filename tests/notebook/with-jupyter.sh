#!/bin/sh
# tests/notebook/with-jupyter.sh [build folder]
#
# gpulua-kernel under today's Jupyter, from PyPI in a virtual environment: the cases of jupyter_kernel_test and, where Debian's
# chromium is installed, a notebook in JupyterLab, with a picture of it in the build folder. The suite has a test of its own,
# notebook, that needs Debian's packages alone.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../build/release}" && pwd)
venv=$build/jupyter-venv
[ -x "$venv/bin/jupyter-lab" ] || {
  /usr/bin/python3 -m venv "$venv"
  "$venv/bin/pip" install -q jupyter_kernel_test jupyterlab playwright
}
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
export JUPYTER_DATA_DIR="$data" GPULUA_DEVICE="${GPULUA_DEVICE:-cpu}" GPULUA_CACHE_DIR="$build/cache" PATH="$venv/bin:$PATH"
"$build/bin/gpulua" --install-kernel
"$venv/bin/python" "$here/kernel_test.py" -v
if [ -x /usr/bin/chromium ]; then "$venv/bin/python" "$here/lab.py" "$build/notebook.png"; fi
