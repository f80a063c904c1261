# LuaJIT within the command: C modules, the compiler, and nothing heavy at the start.
source "$(dirname "$0")/check.sh"

check 'a C module' 0 'function' '' -e 'print(type(require("lfs").currentdir))'
check 'the jit modules' 0 'table' '' -e 'print(type(require("jit.util")))'
check 'the compiler finds room for machine code' 0 'compiled' '' -e '
  local traced = false
  jit.attach(function(what) if what == "stop" then traced = true end end, "trace")
  local x = 0
  for i = 1, 1e5 do x = x + i end
  assert(x == 5000050000)
  print(traced and "compiled" or "interpreted")'

# Its own modules are loaded from bytecode; another LuaJIT parses their text.
for version in 'jit.version' '"another"'; do
  printf 'jit.version = %s\nlocal gpu = require "gpu"\nprint(gpu.median(gpu.array {3, 1, 2}):item(), pcall(gpu.median, 1))\n' "$version" >"$scratch/version.lua"
  check "modules of the LuaJIT $version" 0 '2*false*version.lua:3: [[]median[]] expected an array, got 1*' '' "$scratch/version.lua"
done

LD_DEBUG=files LD_DEBUG_OUTPUT=$scratch/loaded "$gpulua" -e '' || fail 'start'
if grep -E 'calling init: .*(libcuda|libnvrtc|libcublas|libLLVM|libclang|libtbb|libopenblas|libgpulua|libluajit)' "$scratch"/loaded.*; then
  fail 'the start loads a library that it does not need'
fi
finish
