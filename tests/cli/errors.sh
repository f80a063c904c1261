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
check 'a transpose by a quote' 1 '' "gpulua: (command line):1: unfinished string near*hint: x.T is the transpose*" -e "local y = x'"
hinted 'print(math.sqrt(x:sum()))' "bad argument #1 to 'sqrt' (number expected, got $argument x:item() gives its number"
hinted 'print(("%d"):format(x:sum()))' "bad argument #1 to 'format' (number expected, got $argument x:item() gives its number"
hinted 'print(math.sqrt(x))' "bad argument #1 to 'sqrt' (number expected, got $argument x:sqrt(...) takes one"
hinted 'print(math.random(x))' "bad argument #1 to 'random' (number expected, got $argument x:table() gives its elements"
hinted 'for i, v in ipairs(x) do end' "bad argument #1 to 'ipairs' (table expected, got $argument x:table() gives its elements as a table"
hinted 'print(unpack(x))' "bad argument #1 to 'unpack' (table expected, got $argument x:table() gives its elements as a table; results of a call are taken one by one, local q, r = gpu.linalg.qr(a)"
hinted 'print(("a"):rep(x:sum()))' "bad argument #1 to 'rep' (number expected, got $argument x:item() gives its number"
hinted 'for i = 1, x:sum() do end' "'for' limit must be a number; of an array, x:item() gives the number"
hinted 'print(x:sum() > 2)' "attempt to compare number with userdata; x:lt(y), x:le(y), x:gt(y) and x:ge(y) compare arrays, gpu.where(condition, x, y) chooses elements, x:item() < y the number of one element"
hinted 'print(x < 0)' "attempt to compare userdata with number; x:lt(y), x:le(y), x:gt(y) and x:ge(y) compare arrays, gpu.where(condition, x, y) chooses elements, x:item() < y the number of one element"
hinted 'print(2LL + x)' "attempt to perform arithmetic on 'int64_t' and 'userdata'; numbers of the FFI go to an array's right, x + 2LL, or into a function, gpu.add(2LL, x)"
hinted 'print(x:ndim())' "attempt to call method 'ndim' (a number value); x.ndim is a property of arrays: it has no parentheses"
hinted 'print(math.max(x, 0))' "bad argument #1 to 'max' (number expected, got $argument gpu.maximum(x, y) compares each element, x:max() gives the largest of all"
hinted 'print(math.min(x, 0))' "bad argument #1 to 'min' (number expected, got $argument gpu.minimum(x, y) compares each element, x:min() gives the smallest of all"
hinted 'table.insert(x, 1)' "bad argument #1 to 'insert' (table expected, got $argument gpu.array(t) makes one of a table that is full, gpu.concat({x, y}) a longer one"
hinted 'table.sort(x)' "bad argument #1 to 'sort' (table expected, got $argument x:sort() gives its elements in order"
called='; parentheses call a function: x:'
hinted 'print(x.size())' "attempt to call field 'size' (a number value); x.size is a property of arrays: it has no parentheses; x.shape[[]1] is the first extent"
table='local t = require "gpu".table {d = require "gpu".dates {"2024-01-02", "2024-01-03"}} '
hinted "${table}print(t:rows(1))" "attempt to call method 'rows' (a number value); t.rows is a number: it has no parentheses; t:take({1, 2})*"
hinted "${table}print(t.d > '2024-01-02')" 'attempt to compare string with userdata; x:gt(text), x:ge(text), x:lt(text) and x:le(text) compare a column of dates*'
hinted "${table}print(t.d[2] - t.d[1])" 'attempt to perform arithmetic on a string value; an element of a column of dates is a text: d({i, i}) is a column of it alone, from which others are subtracted, d:diff()*'
hinted 'print(require "gpu".norm.cdf(x))' "attempt to index field 'norm' (a function value); gpu.normcdf(x), gpu.normcdfinv(p)*"
hinted 'print(x.dtype())' "attempt to call field 'dtype' (a string value); x.dtype is a property of arrays: it has no parentheses"
hinted 'print(x.sum + 1)' "attempt to perform arithmetic on field 'sum' (a function value)${called}sum() is a value, x.sum a function"
hinted 'local s = x.sum print(2 * s)' "attempt to perform arithmetic on local 's' (a function value); parentheses call a function: s() is a value, x:mean() that of a method"
hinted 'print(x.max > 2)' "attempt to compare number with function${called}mean() is a value, x.mean a function"
hinted 'print("sum: " .. x.sum)' "attempt to concatenate field 'sum' (a function value)${called}sum() is a value, x.sum a function"
hinted 'print(x.sum[1])' "attempt to index field 'sum' (a function value)${called}sum() is a value, x.sum a function"
hinted 'print(math.sqrt(x.sum))' "bad argument #1 to 'sqrt' (number expected, got function)${called}mean() is a value, x.mean a function"
hinted 'print(({}) + 1, x.size)' 'attempt to perform arithmetic on a table value'
hinted 'for i = 1, nil do end' "'for' limit must be a number"
hinted 'print(math.sqrt(io.stdout))' "bad argument #1 to 'sqrt' (number expected, got userdata)"
hinted 'print(1 < nil)' 'attempt to compare number with nil'

# A called value has no name, and no line in the traceback.
check 'a call through a metamethod' 1 '' "gpulua: (command line):1: \\[k\\] expected a launch configuration first*${newline}stack traceback:${newline}	(command line):1: in main chunk" \
  -e 'gpu.kernel("__global__ void k() {}", "k")(1)'

# What people write who come from C++ or Python.
hint() { check "$1" 1 '' "*${newline}hint: $3*" -e "$2"; }
# The last call of a chunk or function has no frame.
check 'the last call of a chunk' 1 '' "gpulua: (command line):2: \\[add\\] operands could not be broadcast*" -e "local x = gpu.ones(3)${newline}return gpu.add(x, gpu.ones(4))"
check 'a function of Lua as the last call' 1 '' "gpulua: (command line):2: bad argument #1 to 'max' (number expected, got $argument gpu.maximum(x, y)*" \
  -e "local x = gpu.ones(3)${newline}return math.max(x, 0)"
hint 'a name of kernels' 'print(threadIdx.x)' 'in a function of gpu.jit, gpu.grid() is the thread'

hint 'repeat' 'gpu.repeat(x, 2)' 'repeat is a word of Lua*gpu.repeat_interleave'
hint 'a range in brackets' 'y = x[1:3]' 'ranges are strings'
hint 'chevrons' 'k<<<1, 2>>>(x)' 'a launch is kernel {grid = blocks, block = threads}'
hint '!=' 'if x != 1 then end' 'Lua writes ~= for !='
hint 'a magic' '%time gpu.ones(3)' "lines with % are IPython's: gpu.benchmark(f) measures times"
hint 'a magic of a cell' "%%bash${newline}ls" "lines with % are IPython's"
hint 'a magic behind a statement' 'x = 1; %timeit gpu.ones(3)' "lines with % are IPython's: gpu.benchmark(f) measures times"
hint 'a command of the shell' '!ls -l' "os.execute 'ls' runs a program"
hint '! for not' 'if !x then end' 'Lua writes not for !'
hint '+=' 'x += 1' 'Lua has no +='
hint 'elif' 'if n == 1 then print(1) elif n == 2 then print(2) end' 'Lua writes elseif condition then for elif'
hint 'continue' 'for i = 1, 3 do if i == 2 then continue end print(i) end' 'Lua has no continue'
hint 'an arrow function' 'local f = gpu.vectorize((x) => x * 2)' 'functions without a name are written function(x)'
hint 'a decorator' '@gpu.jit' 'Lua has no decorators: local f = gpu.jit('
hint 'braces' 'if (x == 1) { y = 2; }' 'Lua writes if condition then'
hint 'import' 'import numpy as np' 'this is Lua, where gpu has NumPy'
hint 'a comparison' 'if x = 1 then end' 'Lua writes == for a comparison'
hint 'a string of several lines' "gpu.kernel(\"__global__ void k() {${newline}}\", 'k')" 'text of several lines goes between'
hint 'a tuple' 'k{grid = (32, 8), block = 1}' 'several numbers go in braces'
hint 'a launch in brackets' 'k[32, 256](x)' 'a launch is kernel {grid'
hint 'a named argument' 'gpu.zeros(3, dtype = "int32")' 'options are a table'
hint 'a tuple of sizes' 'gpu.zeros((3, 4))' 'Lua has no tuples'
hint 'an operator of Python' 'x = a @ b' 'gpu.matmul(a, b)'
hint 'a comment of Python' 'x = 1 # one' 'comments begin with --'
printf 'local x = require "gpu".ones(2, 2)\nlocal v, i = x:max(2)\nprint(i[1])\n' >"$scratch/two_results.lua"
check 'two results' 1 '' '*two_results.lua:3: *hint: *x:argmax the positions*' "$scratch/two_results.lua"
printf 'local t = tonumber(require "gpu".ones(2):sum())\nprint(t + 1)\n' >"$scratch/tonumber.lua"
check 'tonumber of an array' 1 '' '*tonumber.lua:2: *hint: *x:item() gives its number*' "$scratch/tonumber.lua"
check 'a word of Python' 1 '' '*command line):1: the global True is not defined: Lua writes true*' -e 'x = {keepdims = True}'
check 'a dtype without quotes' 1 '' '*: the global float64 is not defined: dtypes are strings, "float64"*' -e 'gpu.zeros(3, float64)'
check 'a global that the script defines' 0 '1*' '' -e 'True = 1 print(True, rawget(_G, "False"))'
hint 'a name of Python' 'print(len("abc"))' '#x is a length'
hint 'a function of JavaScript' 'print(math.round(2.5))' 'math.floor(x + 0.5)'
hint 'a part of a text as of a date' 'print(require "gpu".dates {"2024-01-02"}[1].year + 1)' '*d:year()[[]i] is its part'
hint 'a module of Python' 'require "cupy"' 'the module is named gpu'
hint 'a function without parentheses' "gpu.sync${newline}print(1)" 'parentheses call a function: gpu.sync()'
hint 'a method without parentheses' "x:sum${newline}print(1)" 'parentheses call a function: x:sum()'
hint 'a function without parentheses at the end' "local x = 1${newline}gpu.sync" 'parentheses call a function: gpu.sync()'
hint 'require without quotes' "local gpu = require gpu${newline}local x = gpu.ones(3)" 'the name of a module is a string: require "gpu"'
hint 'a declaration after a comment' "-- gpu.sync${newline}int n = 3" 'variables have no type'
hint 'a constant assigned to' 'mod:constant("rate") = 0.5' 'mod:constant(name):fill_(value) sets a variable'
hint 'a call assigned to' 'x(1, 2) = 0.5' "a call's result is not a variable: x\\[{1, 2}\\] = value sets an element"
hint 'the length of an FFI array' 'print(#gpu.ones(3):host())' 'FFI arrays do not tell their length, and count from 0: x:host() has x.size elements'
hint 'a property of a device that is not open' 'local d = {name = "cuda:0"} print(d.total_memory / 2)' 'a device has more than its name and kind when it is open: gpu.device(name).total_memory'
given() { printf "$2" >"$scratch/$1"; check "$1 as a script" 1 '' "*${newline}hint: $3*" "$scratch/$1"; }
given k.cu '__global__ void k(float* x) { x[0] = 1; }\n' 'this is CUDA C++, which a script compiles: gpu.module(assert(io.open("k.cu")):read("\*a"))'
given x.npy '\223NUMPY\001\0v\0' 'these are arrays, which a script reads: gpu.load("x.npy")'
given prices.csv 'day,price\n2024-01-02,1\n' 'this is a table, which a script reads: gpu.load("prices.csv")'
given x.py 'import gpu\n' '"x.py" is Python; scripts are Lua'
given data '\001\0\0' 'the file is not text; scripts are Lua'
nil_since() { printf 'local gpu = require "gpu"\n%s\nprint(y[1])\n' "$2" >"$scratch/nil.lua"; check "$1" 1 '' "*${newline}hint: y is nil since line 2: $3*" "$scratch/nil.lua"; }
launch='a launch gives no value, a kernel writes to the arrays that are its arguments'
nil_since 'the result of a launch' 'local y = (function() return function() end end) {grid = 1, block = 1}(1)' "$launch"
nil_since 'the result of a launch over items' 'local k = {over = function() return function() end end} local y = k:over(3)(1)' "$launch"
nil_since 'a scope without a result' 'local y = gpu.scope(function() local x = gpu.ones(3) end)' 'gpu.scope gives what its function returns'
printf 'io.open("missing"):read("*a")' >"$scratch/missing.lua"
check 'a file that is not there' 1 '' "*${newline}hint: assert(io.open(name)) says why a file cannot be opened*" "$scratch/missing.lua"
nil_since 'a file that nobody checked' 'local y = io.open("missing")' 'assert(io.open("missing")) says why'
check 'a script in the place of a device' 1 '' 'gpulua: [[]device[]] expected a device of the kinds *, such as "cpu" or "cuda:0", got "arr.lua"; the name comes from --device or GPULUA_DEVICE*' \
  --device arr.lua
check 'a GPU by another name' 1 '' '*[[]device[]] expected a device of *, got "gpu"; an NVIDIA GPU is called "cuda:0"*; the name comes from --device or GPULUA_DEVICE*' \
  --device gpu -e 'gpu.ones(3)'
check 'a function of CuPy' 1 '' '*[[]gpu[]] gpu has no field "RawKernel"; use gpu.kernel(source, name)*' -e 'gpu.RawKernel("", "k")'
echo 'setmetatable(_G, nil) print(gpu.zeros(3))' >"$scratch/no_require.lua"
printf 'local gpu = require "gpu"\nlocal x = gpu.load("missing.npy")\nprint(x.shape)\n' >"$scratch/unchecked.lua"
check 'a load that nobody checked' 1 '' "*unchecked.lua:3: attempt to index local 'x' (a nil value) (perhaps from *unchecked.lua:2: [[]load[]] cannot open missing.npy: No such file or directory)${newline}hint: x is nil since line 2: assert(gpu.load(\"missing.npy\")) says why*" \
  "$scratch/unchecked.lua"
printf 'local e = gpu.linalg.eigh(gpu.eye(2))\nlocal values, vectors = e[1], e[2]\nprint(vectors:sum())\n' >"$scratch/results.lua"
check 'the second result of a function' 1 '' "*${newline}hint: gpu.linalg.eigh gives its results one by one: local first, second = gpu.linalg.eigh(...)*" "$scratch/results.lua"
printf 'local r = gpu.optimize.root_scalar(math.sin, {bracket = {3, 4}})\nprint(r.root)\n' >"$scratch/results.lua"
check 'a field of the first result' 1 '' "*${newline}hint: gpu.optimize.root_scalar gives its results one by one: *" "$scratch/results.lua"
check 'results in a table' 1 '' "*; *x:table() gives its elements as a table; results of a call are taken one by one, local q, r = gpu.linalg.qr(a)*" \
  -e 'local q, r = unpack(gpu.linalg.qr(gpu.eye(2)))'
check 'a method of a list of numbers' 1 '' "*attempt to call field 'sum' (a nil value); gpu.array(t):sum() is of the array of a table of numbers*" \
  -e 'local x, prices = gpu.ones(2), {1, 2} print(prices.sum())'
check 'gpu without require' 1 '' '*attempt to index global*hint: globals of another kind lack it, as in another Lua: local gpu = require "gpu"*' "$scratch/no_require.lua"
check 'a syntax error without a hint' 1 '' "gpulua: (command line):1: '<eof>' expected near 'end'" -e 'end'
cat >"$scratch/cut.lua" <<'LUA'
local k = gpu.kernel([[
__global__ void k(int* x, const int* i) {
  f(x[i[0]]);
  x[1] = 2;
}
]], "k")
LUA
check 'brackets that end a kernel' 1 '' "gpulua: $scratch/cut.lua:5: *${newline}hint: the \\]\\] in line 3 ends the text that \\[\\[ begins in line 1; *" \
  "$scratch/cut.lua"
check 'brackets that end a kernel in a module' 1 '' "*$scratch/cut.lua:5: *${newline}hint: the \\]\\] in line 3 ends*" \
  -e "package.path = '$scratch/?.lua' require 'cut'"

# A command at the prompt ends with the errors of what it has queued, all at once.
{
  echo 'a = gpu.linalg.inv(gpu.ones(2, 2))'
  echo 'for i = 1, 2 do'
  echo 'b = gpu.linalg.inv(gpu.ones(3, 3) * i)'
  echo 'c = gpu.linalg.cholesky(gpu.ones(2, 2) * -1) end'
  echo 'gpu.sync() print "innocent"'
} | "$gpulua" -i >"$scratch/out" 2>"$scratch/err"
matches 'errors of queued work' 0 innocent "gpulua: *the matrix is singular*; queued at stdin:1;*${newline}gpulua: *queued at stdin:3;*queued at stdin:4" $?

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
