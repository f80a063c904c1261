# Ctrl-C stops every kind of loop, says where, and exits with 130.
source "$(dirname "$0")/check.sh"
set -m  # a background job of a shell without job control ignores SIGINT

stops() {
  start "$1" "$2"
  kill -INT "$process"
  await
  matches "$1" 130 '' 'gpulua: (command line):[1-9]: *interrupted!*stack traceback:*' "$code"
}

ffi='local ffi = require("ffi") ffi.cdef("int getppid(void); int usleep(unsigned); unsigned sleep(unsigned);") print()'
stops 'an empty loop' 'print() while true do end'
stops 'a loop by goto' 'print() ::again:: goto again'
stops 'a numeric loop' 'local x = 0 print() while true do x = x + 1 end'
stops 'a for loop' 'local x = 0 print() for i = 1, 1e15 do x = x + i end'
stops 'a loop on a global' 'x = 0 print() while true do x = x + 1 end'
stops 'a loop on an upvalue' 'local x = 0 local function f() x = x + 1 end print() while true do f() end'
stops 'a loop on an array' 'local t = {1} print() while true do for i = 1, 100 do t[i] = (t[i] or 0) + 1 end end'
stops 'a loop on fields' 'local t = {a = 1} print() while true do t.a = t.a + 1 end'
stops 'nested loops' 'print() while true do for i = 1, 10 do for j = 1, 10 do end end end'
stops 'a loop of two traces' 'local a, n = true, 0 print() while true do if a then a = false else a = true end n = n + 1 end'
stops 'a loop of many traces' 'local n = 0 print() while true do n = n + 1 if n % 3 == 0 then n = n + 2 elseif n % 5 == 0 then n = n + 7 end end'
stops 'strings' 'local s = "" print() while true do s = s .. "x" if #s > 100 then s = "" end end'
stops 'garbage' 'local t print() while true do t = {t and 1} end'
stops 'closures' 'local f print() while true do local x = 1 f = function() x = x + 1 end f() end'
stops 'C functions of the library' 'print() while true do local s = string.format("%d", 5):gsub("5", "6") end'
stops 'metamethods' 'local t = setmetatable({}, {__index = function(_, k) return k end}) local x print() while true do x = t[1] end'
stops 'tail calls' 'local function f(n) return f(n + 1) end print() f(1)'
stops 'recursion' 'local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end print() while true do fib(20) end'
stops 'pairs' 'local t = {} for i = 1, 50 do t["k" .. i] = i end print() while true do for k, v in pairs(t) do end end'
stops 'FFI data' "$ffi local b = ffi.new('double[100]') local i = 0 while true do b[i % 100] = i i = i + 1 end"
stops 'short FFI calls' "$ffi while true do ffi.C.getppid() end"
stops 'FFI calls that wait' "$ffi while true do ffi.C.usleep(50) end"
stops 'FFI calls that wait long' "$ffi while true do ffi.C.sleep(100) end"
stops 'a coroutine' 'print() coroutine.wrap(function() local x = 0 while true do x = x + 1 end end)()'
stops 'many resumes' 'local f = coroutine.wrap(function() while true do coroutine.yield(1) end end) print() while true do f() end'
stops 'the interpreter' 'jit.off() print() while true do end'
stops 'a script with a hook' 'debug.sethook(function() end, "", 1000) print() while true do end'

# The machine is busy, and the signal meets a C function that goes on for millions of instructions: it gets its share of the time.
busy=()
for _ in 1 2 3 4 5 6; do
  timeout 60 sh -c 'while :; do :; done' &
  busy+=($!)
done
stops 'a long C function on a busy machine' 'local gpu, t = require("gpu"), {} for i = 1, 2e6 do t[i] = {i} end gpu.ones(3):sum():item() print()
  jit.off() while true do collectgarbage() end'
kill "${busy[@]}"

# The signal comes in a C function that then fails: by a finalizer, which runs without hooks, in the search for memory.
check 'an error meets the interrupt' 130 '' 'gpulua: *interrupted!*' -e 'local ffi, gpu = require "ffi", require "gpu"
  ffi.cdef "int raise(int);"
  do local x = ffi.gc(ffi.new "int[1]", function() ffi.C.raise(2) end) end
  gpu.zeros(2^50)'

start 'pcall' 'print()
  local good, message = pcall(function() local x = 0 while true do x = x + 1 end end)
  print(good, message)'
kill -INT "$process"
await
matches 'pcall catches the interrupt' 0 $'false\t(command line):2: interrupted!' '' "$code"

start 'a hook' 'local calls = 0
  local function count() calls = calls + 1 end
  debug.sethook(count, "", 100)
  print()
  pcall(function() while true do end end)
  print(debug.gethook() == count)'
kill -INT "$process"
await
matches 'the hook of the script comes back' 0 'true' '' "$code"

start 'stubborn' 'print() while true do pcall(function() while true do end end) end'
kill -INT "$process"
sleep 0.2
kill -INT "$process"
await
matches 'a second interrupt kills' 130 '' '' "$code"

# A step would kill the process then: the loop goes on until the second Ctrl-C.
start 'SIGTRAP blocked' 'local ffi = require("ffi")
  ffi.cdef("int sigemptyset(void*); int sigaddset(void*, int); int pthread_sigmask(int, const void*, void*);")
  local set = ffi.new("char[128]")
  ffi.C.sigemptyset(set)
  ffi.C.sigaddset(set, 5)
  ffi.C.pthread_sigmask(0, set, nil)
  local x = 0
  print() while true do x = x + 1 end'
kill -INT "$process"
sleep 0.2
kill -0 "$process" 2>/dev/null || fail 'SIGTRAP blocked: a step has killed the process'
kill -INT "$process"
await
matches 'a loop with SIGTRAP blocked' 130 '' '' "$code"
finish
