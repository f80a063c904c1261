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

# Errors of Lua's own, where an array is the cause.
hinted() { check "$1" 1 '' "gpulua: (command line):1: $2${newline}*" -e "local x = gpu.ones(3) $1"; }
argument='userdata); the argument is an array:'
hinted 'print(math.sqrt(x:sum()))' "bad argument #1 to 'sqrt' (number expected, got $argument x:item() gives its number"
hinted 'print(("%d"):format(x:sum()))' "bad argument #1 to 'format' (number expected, got $argument x:item() gives its number"
hinted 'print(math.sqrt(x))' "bad argument #1 to 'sqrt' (number expected, got $argument x:sqrt(...) takes one"
hinted 'print(math.random(x))' "bad argument #1 to 'random' (number expected, got $argument x:table() gives its elements"
hinted 'for i, v in ipairs(x) do end' "bad argument #1 to 'ipairs' (table expected, got $argument x:table() gives its elements as a table"
hinted 'print(unpack(x))' "bad argument #1 to 'unpack' (table expected, got $argument x:table() gives its elements as a table"
hinted 'print(("a"):rep(x:sum()))' "bad argument #1 to 'rep' (number expected, got $argument x:item() gives its number"
hinted 'for i = 1, x:sum() do end' "'for' limit must be a number; of an array, x:item() gives the number"
hinted 'print(x:sum() > 2)' "attempt to compare number with userdata; x:lt(y), x:le(y), x:gt(y) and x:ge(y) compare arrays, x:item() < y the number of one element"
hinted 'print(x < 0)' "attempt to compare userdata with number; x:lt(y), x:le(y), x:gt(y) and x:ge(y) compare arrays, x:item() < y the number of one element"
hinted 'print(2LL + x)' "attempt to perform arithmetic on 'int64_t' and 'userdata'; numbers of the FFI go to an array's right, x + 2LL, or into a function, gpu.add(2LL, x)"
hinted 'print(x:ndim())' "attempt to call method 'ndim' (a number value); x.ndim is a property of arrays: it has no parentheses"
hinted 'for i = 1, nil do end' "'for' limit must be a number"
hinted 'print(math.sqrt(io.stdout))' "bad argument #1 to 'sqrt' (number expected, got userdata)"
hinted 'print(1 < nil)' 'attempt to compare number with nil'

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
