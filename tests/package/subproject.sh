# subproject.sh BUILD CMAKE LUAJIT: another project has gpulua as a part of itself. Compiling all of it takes long: only the embedded texts
# are made, unless GPULUA_TEST_SUBPROJECT is `all`.
source "$(dirname "$0")/check.sh"
ctest=$(dirname "$cmake")/ctest

for way in add_subdirectory FetchContent; do
  tree=$scratch/$way
  "$cmake" -G Ninja -S "$here/parent" -B "$tree" -DCMAKE_BUILD_TYPE=Release -DWAY=$way -DGPULUA_SOURCE="$source" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
  expect "tests by $way" 'Total Tests: 0' "$("$ctest" --test-dir "$tree" -N | grep Total)"
  expect "options by $way" '' "$(grep -E '^(BUILD_TESTING|GPULUA_KERNEL)' "$tree/CMakeCache.txt" || true)"
  expect "what is installed by $way" '' "$(find "$tree" -name cmake_install.cmake -path '*gpulua*' -exec grep -l 'file(INSTALL' {} + || true)"
done
"$cmake" --build "$tree" --target gpulua_library >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
if [ "${GPULUA_TEST_SUBPROJECT:-}" = all ]; then
  "$cmake" --build "$scratch/add_subdirectory" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
  expect 'the program' 3 "$("$scratch/add_subdirectory/parent")"
fi
echo passed
