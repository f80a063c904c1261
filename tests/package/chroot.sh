#!/bin/bash
# chroot.sh RELEASE FOLDER: as root, in two new systems of that release of Debian (bookworm, trixie) under FOLDER: in `built` the last
# commit is installed by `make install`, packed and tested; in `bare`, which has nothing of a build, its packages are installed and used.
# Not part of the suite: it takes debootstrap, the network and an hour. CUDA's headers are this machine's, where it has some.
set -eu
[ $# = 2 ] || { echo "usage: chroot.sh RELEASE FOLDER" >&2; exit 2; }
release=$1 folder=$2 source=$(cd "$(dirname "$0")/../.." && pwd)
mkdir "$folder"

# within SYSTEM COMMAND: with mounts of its own, and none of this process's environment.
within() {
  echo "== $1: $2" >&2
  unshare --mount bash -euc '
    for place in proc sys dev; do mount --rbind "/$place" "$0/$place"; done
    if [ -d /usr/local/cuda/ ]; then mkdir -p "$0/usr/local/cuda" && mount --rbind /usr/local/cuda/ "$0/usr/local/cuda"; fi
    exec env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
      chroot "$0" bash -euc "cd /root/gpulua && $1"' "$folder/$1" "$2"
}
# expect WANTED SYSTEM COMMAND: what the command prints last.
expect() {
  local got
  got=$(within "$2" "$3" | tee >(cat >&2) | tail -n 1)
  [ "$got" = "$1" ] || { printf 'FAILED: expected %s, got %s\n' "$1" "$got"; exit 1; }
}

debootstrap --variant=minbase "$release" "$folder/bare"
mkdir "$folder/bare/root/gpulua"
cp -a "$folder/bare" "$folder/built"
git -C "$source" archive HEAD | tar x -C "$folder/built/root/gpulua"

sum='print(gpu.arange(1000):sum():item())'
within built 'apt-get update -q && apt-get install -y -q --no-install-recommends make && make install'
expect 499500 built "gpulua --device cpu -e '$sum'"
# Of the packages for tests, packages and notebooks it needed none.
expect 0 built "dpkg-query -W -f '\${db:Status-Status}\\n' catch2 lua-busted dpkg-dev xeus-dev 2>/dev/null | grep -cx installed || true"
within built 'make packages'

cp "$folder"/built/root/gpulua/build/release/packages/*.deb "$folder/bare/root/gpulua"
within bare 'apt-get update -q && apt-get install -y -q --no-install-recommends ./*.deb'
expect 499500 bare "gpulua --device cpu -e '$sum'"
within bare 'gpulua --device cpu /usr/share/doc/gpulua/scripts/black_scholes.lua 100000'
within bare 'apt-get install -y -q --no-install-recommends gcc libc6-dev pkg-config luajit'
expect 499500 bare "luajit -e \"gpu = require 'gpu' $sum\""
expect 'the sum is 499500' bare \
  'cc /usr/share/doc/gpulua/examples/host_minimal/host_minimal.c $(pkg-config --cflags --libs gpulua) -o host && ./host'
expect '' bare "apt-get purge -y -q 'gpulua*' 'libgpulua*' >&2; find /usr -name '*gpulua*'"

# NVRTC looks for its own libraries where the loader does.
within built 'echo /usr/local/cuda/lib64 > /etc/ld.so.conf.d/cuda.conf && ldconfig && make quick'
echo passed
