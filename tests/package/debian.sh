# debian.sh BUILD CMAKE LUAJIT: the Debian packages, unpacked together, work from where they lie, and say what they need.
source "$(dirname "$0")/check.sh"
for tool in dpkg-deb dpkg-shlibdeps; do
  command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 77; }
done

cpack=$(dirname "$cmake")/cpack
# Packages that are read once need no compression.
(cd "$scratch" && "$cpack" --config "$build/CPackConfig.cmake" -D CPACK_DEBIAN_COMPRESSION_TYPE=none \
  -D CPACK_PACKAGE_DIRECTORY="$scratch" >"$scratch/log" 2>&1) || { cat "$scratch/log"; exit 1; }

declare -A file
for deb in "$scratch"/*.deb; do
  file[$(dpkg-deb -f "$deb" Package)]=$deb
  dpkg-deb -x "$deb" "$scratch/root"
done
field() { dpkg-deb -f "${file[$1]}" "$2"; }
has() { case "$3" in *"$2"*) ;; *) expect "$1" "$2 in it" "$3" ;; esac }

version=$(field gpulua Version)
for package in libgpulua0 gpulua gpulua-cpu libgpulua-dev; do expect "$package" "$version" "$(field $package Version)"; done
expect 'needs of the headers' "libgpulua0 (= $version)" "$(field libgpulua-dev Depends)"
has 'needs of the library' libc6 "$(field libgpulua0 Depends)"
has 'needs of programs with the library' "libgpulua 0 libgpulua0 (>= $version)" "$(dpkg-deb -I "${file[libgpulua0]}" shlibs)"
has 'what the library works with' "gpulua-cpu (= $version)" "$(field libgpulua0 Recommends)"
has 'needs of gpulua-cpu' libtbb12 "$(field gpulua-cpu Depends)"
case "$(field gpulua Depends)" in *libllvm* | *luajit*) expect 'needs of the command' 'no compiler' "$(field gpulua Depends)" ;; esac
if [ -v 'file[gpulua-kernel]' ]; then
  has 'needs of the notebooks' libxeus "$(field gpulua-kernel Depends)"
  has 'what Jupyter starts' '"gpulua-kernel", "-f", "{connection_file}"]' "$(cat "$scratch/root/usr/share/jupyter/kernels/gpulua/kernel.json")"
  case "$(field gpulua Depends)" in *xeus* | *zmq*) expect 'needs of the command' 'nothing of notebooks' "$(field gpulua Depends)" ;; esac
fi
if [ -v 'file[gpulua-cuda]' ]; then
  case "$(field gpulua-cuda Depends)" in *nvidia* | *cuda*) expect 'needs of gpulua-cuda' 'none of NVIDIA' "$(field gpulua-cuda Depends)" ;; esac
fi

runs "$scratch/root/usr" "$scratch/root/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)/lua/5.1"
# Without the packages of the devices the command says what is missing.
dpkg-deb -x "${file[gpulua]}" "$scratch/alone"
has 'the command alone' 'libgpulua-cpu.so is not installed' "$("$scratch/alone/usr/bin/gpulua" -e 'gpu.ones(1)' 2>&1 || true)"
echo passed
