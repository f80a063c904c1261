#!/bin/sh
# tools/install-dependencies.sh [command | packages | docs]
#
# Installs the Debian packages that gpulua is built, tested and run with, as far as they are missing; with `command`, without those
# of notebooks and of the tests; with `packages` or `docs`, those that make Debian packages and rocks, or the site, alone. Needs root or sudo only then. The CUDA toolkit is used where it
# is found and is not installed here.
set -eu

packages="
  g++ cmake ninja-build pkg-config ccache
  libluajit-5.1-dev luajit
  libedit-dev libfmt-dev libpng-dev libxxhash-dev libzip-dev
  libtbb-dev libboost-context-dev libsleef-dev libopenblas0 libsuperlu5
  llvm-19-dev libclang-19-dev libclang-cpp19-dev liblld-19-dev lld zlib1g-dev libzstd-dev
"
case "${1-}" in
  "") packages="$packages catch2 lua-busted expect dpkg-dev liblua5.4-dev openmpi-bin mpich gnuplot-nox libhdf5-103-1
    python3-venv python3-numpy xeus-dev python3-jupyter-client" ;;
  command) ;;
  packages) packages="dpkg-dev luarocks zip" ;;
  docs) packages="mkdocs mkdocs-material gnuplot-nox" ;;
  *) echo "install-dependencies.sh: expected nothing, 'command', 'packages' or 'docs', got '$1'" >&2; exit 2 ;;
esac

missing=""
for package in $packages; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

as_root=""
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || { echo "install as root:$missing" >&2; exit 1; }
  as_root=sudo
fi
echo "installing:$missing"
$as_root apt-get update -q
# shellcheck disable=SC2086  # the names are words
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -q --no-install-recommends $missing
