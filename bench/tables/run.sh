#!/bin/bash
# bench/tables/run.sh [-b build folder]
#
# CSV files written and read by gpulua, and by pandas and pyarrow where they are installed: seconds of processor time and MB a second
# of it, so that a number is that of one core, and the peer's time over ours. A million rows of three columns. Then groups of a
# million rows, and joins, windows and dates, beside pandas. Then reads of columns in loops.
set -eu
cd "$(dirname "$0")/../.."

build=build/release
[ "${1-}" != -b ] || build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
GPULUA_DEVICE=cpu "$build/bin/gpulua" bench/tables/ours.lua "$work" | tee "$work/ours"
python3 bench/tables/peer.py "$work"
GPULUA_DEVICE=cpu "$build/bin/gpulua" bench/tables/groups.lua "$work" | tee "$work/groups"
python3 -c 'import pandas' 2>/dev/null && python3 bench/tables/groups.py "$work" || echo "pandas is not installed"
GPULUA_DEVICE=cpu "$build/bin/gpulua" bench/tables/joins.lua "$work" | tee "$work/joins"
python3 -c 'import pandas' 2>/dev/null && python3 bench/tables/joins.py "$work" || true
GPULUA_DEVICE=cpu "$build/bin/gpulua" bench/tables/reads.lua
