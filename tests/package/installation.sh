# installation.sh BUILD CMAKE LUAJIT: `cmake --install`, then the tree moves, and everything in it works.
source "$(dirname "$0")/check.sh"

"$cmake" --install "$build" --prefix "$scratch/first" >/dev/null
mv "$scratch/first" "$scratch/moved tree"
prefix="$scratch/moved tree"
runs "$prefix" "$prefix/lib/lua/5.1"
expect 'the soname' libgpulua.so.0 \
  "$(readelf -d "$prefix/lib/libgpulua.so" | sed -n 's/.*soname: \[\(.*\)\]/\1/p')"
expect 'folders of the build in the files' '' "$(grep -rlF "$build" "$prefix" || true)"

expect 'functions of Lua that the library wants from its program' '' \
  "$(nm -D --undefined-only "$prefix/lib/libgpulua.so" | grep ' lua' || true)"

# The symbols that leave the library are what its header declares, and those of exports.txt: programs need them.
nm -D --defined-only "$prefix/lib/libgpulua.so" | awk '{ print $3 }' | LC_ALL=C sort >"$scratch/exports"
sed -n 's/^GPULUA_API .*[ *]\([a-z0-9_]*\)(.*/\1/p' "$prefix/include/gpulua/gpulua.h" | LC_ALL=C sort >"$scratch/declared"
diff "$scratch/declared" "$scratch/exports" || expect 'exported symbols' 'those of gpulua.h' 'the differences above'
diff "$here/exports.txt" "$scratch/exports" || expect 'exported symbols' 'those of exports.txt' 'the differences above'

"$cmake" -S "$here/consumer" -B "$scratch/consumer" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
"$cmake" --build "$scratch/consumer" >/dev/null
expect 'a program by find_package' 3 "$("$scratch/consumer/host")"

# pkg-config escapes the blank of this prefix, which takes an eval to read.
flags=$(PKG_CONFIG_PATH="$prefix/lib/pkgconfig" pkg-config --cflags --libs gpulua luajit)
eval "cc '$here/consumer/host.c' $flags -o '$scratch/host'"
expect 'a program by pkg-config' 3 "$(LD_LIBRARY_PATH="$prefix/lib" "$scratch/host")"
cc "$here/consumer/older.c" -L "$prefix/lib" -lgpulua -o "$scratch/older"
expect 'a program with an older struct of options' 3 "$(LD_LIBRARY_PATH="$prefix/lib" "$scratch/older")"

if command -v man >/dev/null; then
  expect 'warnings of the man page' '' "$(man --warnings -l "$prefix/share/man/man1/gpulua.1" 2>&1 >/dev/null)"
fi
# Each option that the command names is in its page.
"$prefix/bin/gpulua" --help | grep -oE '^  --?[a-zO]+|, --[a-z]+' | tr -d ' ,' | while read -r option; do
  sed 's/\\-/-/g' "$prefix/share/man/man1/gpulua.1" | grep -q -- "$option" || expect 'the man page' "the option $option" 'no such text'
done

# LuaRocks puts a rock's files into folders of its own: the module, and what it loads in a folder beside it.
"$cmake" --install "$build" --prefix "$scratch/rock" --component rock >/dev/null
expect 'the rock' 3 "$(cd / && "$luajit" -e "package.cpath = '$scratch/rock/lib/?.so' gpu = require 'gpu' print($sum)")"
if command -v luarocks >/dev/null; then luarocks lint "$source"/*.rockspec; fi
echo passed
