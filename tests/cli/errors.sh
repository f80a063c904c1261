# How uncaught errors look.
source "$(dirname "$0")/check.sh"
newline=$'\n'

cat >"$scratch/bad.lua" <<'LUA'
local function inner() error("bad thing") end
local function outer() inner() end
outer()
LUA
"$gpulua" "$scratch/bad.lua" >"$scratch/out" 2>"$scratch/err"
matches 'message and traceback' 1 '' "gpulua: $scratch/bad.lua:1: bad thing
stack traceback:
	\[C\]: in function 'error'
	$scratch/bad.lua:1: in function 'inner'
	$scratch/bad.lua:2: in function 'outer'
	$scratch/bad.lua:3: in main chunk" $?

check 'a table' 1 '' "gpulua: error object: {code = 3, nested = {1, \"x\"}}${newline}stack traceback:*" \
  -e 'error({code = 3, nested = {1, "x"}})'
check 'a table with __tostring' 1 '' "gpulua: custom${newline}stack traceback:*" \
  -e 'error(setmetatable({}, {__tostring = function() return "custom" end}))'
check 'a __tostring that fails' 1 '' "gpulua: error object: <table>${newline}*" \
  -e 'error(setmetatable({}, {__tostring = function() error("again") end}))'
check 'a table that holds itself' 1 '' 'gpulua: error object: {self = <cycle>}*' -e 'local t = {} t.self = t error(t)'
check 'a large table' 1 '' 'gpulua: error object: {*... (950 more)*' -e 'local t = {} for i = 1, 1000 do t[i] = i end error(t)'
check 'nil' 1 '' "gpulua: error object: nil${newline}*" -e 'error(nil)'
check 'a number' 1 '' "gpulua: 12${newline}*" -e 'error(12, 0)'
check 'a boolean' 1 '' "gpulua: error object: false${newline}*" -e 'error(false)'
check 'a stack overflow' 1 '' 'gpulua: *stack overflow*' -e 'local function f() return 1 + f() end f()'
check 'pairs redefined' 1 '' 'gpulua: error object: {1}*' -e 'pairs, tostring, type, string, table = nil error({1})'

# A sanitizer's build needs more address space than any limit would leave it.
limit=600000
if (ulimit -v $limit && "$gpulua" -e '') 2>"$scratch/err"; then
  (ulimit -v $limit && "$gpulua" -e 'local t = {} while true do t[#t + 1] = ("x"):rep(1e7) .. #t end') \
    >"$scratch/out" 2>"$scratch/err"
  matches 'out of memory' 1 '' 'gpulua: *not enough memory*' $?
else
  grep -q Sanitizer "$scratch/err" || fail "starting with $limit KB: $(cat "$scratch/err")"
fi
finish
