#!/bin/sh
# tools/install-dependencies.sh [command | packages | docs]
#
# Installs the packages of Debian 12 or 13 that gpulua is built, tested and run with, as far as they are missing; with `command`,
# without those of notebooks and of the tests; with `packages` or `docs`, those that make Debian packages and rocks, or the site,
# alone. Needs root or sudo only then. The CUDA toolkit is used where it is found and is not installed here.
set -eu

# a|b: the first one that the system has.
packages="
  g++ cmake ninja-build pkg-config ccache
  libluajit-5.1-dev luajit
  libedit-dev libfmt-dev libpng-dev libxxhash-dev libzip-dev
  libtbb-dev libboost-context-dev libsleef-dev libopenblas0 libsuperlu7|libsuperlu5
  llvm-19-dev libclang-19-dev libclang-cpp19-dev liblld-19-dev lld zlib1g-dev libzstd-dev
  libgl-dev libegl-dev libglfw3-dev
"
case "${1-}" in
  "") packages="$packages catch2 lua-busted expect dpkg-dev file liblua5.4-dev openmpi-bin mpich gnuplot-nox libhdf5-310|libhdf5-103-1
    python3-venv python3-numpy xeus-zmq-dev|xeus-dev python3-jupyter-client
    libegl1 libopengl0 libgl1-mesa-dri libglfw3 xvfb xauth" ;;
  command) ;;
  packages) packages="dpkg-dev file luarocks zip" ;;
  docs) packages="mkdocs mkdocs-material gnuplot-nox" ;;
  *) echo "install-dependencies.sh: expected nothing, 'command', 'packages' or 'docs', got '$1'" >&2; exit 2 ;;
esac

# first TEST a|b: prints the first one that passes the test.
first() {
  for package in $(echo "$2" | tr '|' ' '); do
    if "$1" "$package"; then echo "$package"; return; fi
  done
}
is_installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }
is_known() { apt-cache show "$1" >/dev/null 2>&1; }

missing=""
for names in $packages; do
  [ -n "$(first is_installed "$names")" ] || missing="$missing $names"
done
[ -n "$missing" ] || exit 0

as_root=""
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || { echo "install as root:$missing" >&2; exit 1; }
  as_root=sudo
fi
echo "installing:$missing"
$as_root apt-get update -q
chosen=""
for names in $missing; do
  package=$(first is_known "$names")
  [ -n "$package" ] || { echo "install-dependencies.sh: expected Debian 12 or 13, got a system without $names" >&2; exit 1; }
  chosen="$chosen $package"
done
# shellcheck disable=SC2086  # the names are words
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -q --no-install-recommends $chosen
