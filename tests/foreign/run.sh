#!/bin/bash
# tests/foreign/run.sh [build folder [folder of the virtual environment]]
# Files of tables and tensors between gpulua and pandas, pyarrow, h5py and safetensors, the magics in IPython, and SciPy and scikit-learn on
# gpulua.xp. Installs these packages into a virtual environment, so it is run by hand.
set -eu

source=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$source/build/release}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
venv=${2:-$work/venv}

[ -e "$venv" ] || python3 -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check numpy pandas pyarrow cffi h5py safetensors ipython scipy scikit-learn
"$source/python/build_wheel.py" "$build" "$work" 0.0.0
"$venv/bin/pip" install --quiet --no-index --no-deps --force-reinstall "$work"/gpulua-*.whl
cd "$work"
for program in check array_api; do GPULUA_DEVICE=cpu "$venv/bin/python" "$source/tests/foreign/$program.py"; done
