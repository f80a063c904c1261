#!/bin/sh
# tools/stage.sh [build folder] [stage folder]
#
# Collects a build, stripped, with the shared libraries and the Lua modules that its tests use, into one folder that runs on
# another x86-64 Linux machine where nothing of this is installed. Clang and LLVM stay behind for their size: there, the cpu
# device runs what its cache holds. So does SuperLU, whose BLAS has 40 MB: tests that need it are pending there.
set -eu

build=${1:-build/release}
stage=${2:-stage}

# The libraries that a file is linked to. What every Linux machine has stays out: the C and C++ runtimes.
copy_libraries() {
  ldd "$1" | awk '$2 == "=>" { print $3 }' |
    grep -Ev '/(libc|libm|libdl|libpthread|librt|libgcc_s|libstdc\+\+|ld-linux.*)\.so' |
    while read -r library; do cp -Lu "$library" "$stage/lib/"; done
}

cmake --build "$build" --target all benches

rm -rf "$stage"
mkdir -p "$stage/bin" "$stage/lib" "$stage/lua"
for file in gpulua gpulua_unit gpulua_embed_test gpulua_api_test gpulua_gl_threads_test bench_embed bench_init bench_nccl \
  libbench_launch_loop.so libbench_gemm_loop.so libbench_frames.so libgpulua-cuda.so libgpulua-cpu.so; do
  [ -e "$build/bin/$file" ] || { echo "$file was not built: left out" >&2; continue; }
  cp "$build/bin/$file" "$stage/bin/"
  strip "$stage/bin/$file"
  copy_libraries "$build/bin/$file"
done
# What is shipped compiled, where `make kernels` has made it.
find "$build/bin" -name '*.kernels' -exec cp {} "$stage/bin/" \;
# It looks for the plugins beside itself.
mv "$stage/lib/libgpulua.so.0" "$stage/bin/"
# An example that shares a GPU with the library. It reads its script where it is run from.
c++ -O2 -std=c++17 -I include -DFORCES='"examples/particles/forces.lua"' examples/particles/particles.cpp "$stage/bin/libgpulua.so.0" \
  -ldl -o "$stage/bin/particles"
# Opened at run time, so no program lists them.
for name in libedit.so.2 libpng16.so.16 libzip.so.4 libluajit-5.1.so.2; do
  library=$(/sbin/ldconfig -p | awk -v name="$name" '$1 == name && /x86-64/ { print $NF; exit }')
  cp -L "$library" "$stage/lib/"
  copy_libraries "$library"
done
# OpenGL's dispatch, where it is installed: what it goes to is the driver's, of the other machine.
for name in libEGL.so.1 libOpenGL.so.0; do
  library=$(/sbin/ldconfig -p | awk -v name="$name" '$1 == name && /x86-64/ { print $NF; exit }')
  [ -n "$library" ] || { echo "$name is not installed: tests of windows are pending there" >&2; continue; }
  cp -L "$library" "$stage/lib/"
  copy_libraries "$library"
done
superlu=/usr/lib/x86_64-linux-gnu/libsuperlu.so.5 blas=/usr/lib/x86_64-linux-gnu/blas/libblas.so.3
if [ -e "$superlu" ] && [ -e "$blas" ]; then
  cp -L "$superlu" "$blas" "$stage/lib/"
else
  echo "libsuperlu5 or libblas3 is not installed: tests that need SuperLU are pending there" >&2
fi
cp -r /usr/share/lua/5.1/. /usr/share/luajit-2.1*/jit "$stage/lua/"
for module in lfs term system; do
  cp -rL "/usr/lib/x86_64-linux-gnu/lua/5.1/$module"* "$stage/lua/"
done
du -sh "$stage"
