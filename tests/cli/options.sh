# Options, arguments, exit codes, LUA_INIT.
source "$(dirname "$0")/check.sh"
tab=$'\t' newline=$'\n'

check 'nothing to do' 0 '' '' -e ''
check '-e' 0 '3' '' -e 'print(1 + 2)'
check '-e, attached' 0 '3' '' '-eprint(1 + 2)'
check 'order of -e' 0 "1${newline}2" '' -e 'print(1)' -e 'print(2)'
check '-e has gpu' 0 'table' '' -e 'print(type(gpu))'
mkdir "$scratch/scripts"
printf 'return function(x) return gpu.sqrt(x) * 2 end' >"$scratch/scripts/double_root.lua"
printf 'local x = gpu.ones(2) print(x[1], require "gpu" == gpu)' >"$scratch/scripts/global.lua"
printf 'local g, f = require "gpu", require "double_root" print(g.vectorize(f)(g.full(2, 9))[1], f(g.full(2, 4))[1])' >"$scratch/scripts/modules.lua"
printf 'gpu = 3 print(gpu, (require "gpu").ones(2)[1])' >"$scratch/scripts/own.lua"
printf 'print(rawget(_G, "gpu"), package.loaded.gpu)' >"$scratch/scripts/unread.lua"
check 'a script has gpu' 0 "1${tab}true" '' "$scratch/scripts/global.lua"
check 'the modules of a script have gpu' 0 "6${tab}4" '' -e "package.path = '$scratch/scripts/?.lua'" "$scratch/scripts/modules.lua"
check 'a global of the script named gpu stays' 0 "3${tab}1" '' "$scratch/scripts/own.lua"
check 'gpu is not loaded before it is read' 0 "nil${tab}nil" '' "$scratch/scripts/unread.lua"
check 'help, before the library is used' 0 '*pdf-string.format*' '' -e 'help(string.format)'
check '-l' 0 'true' '' -l ffi -e 'print(package.loaded.ffi ~= nil)'
check '-l, absent' 1 '' "gpulua: module 'no.such' not found:*" -l no.such
check '-v' 0 'gpulua [0-9]*LuaJIT 2.*' '' -v
check '-h' 0 'usage: gpulua *' '' -h
check 'unknown option' 1 '' "gpulua: unknown option '-q'${newline}usage:*" -q
check 'unknown long option' 1 '' "gpulua: unknown option '--qqq'${newline}usage:*" --qqq
check 'a long option misspelt' 1 '' "gpulua: unknown option '--devise'; did you mean \"--device\"?" --devise cpu
check 'a long option with one dash' 1 '' "gpulua: unknown option '-device'; did you mean \"--device\"?" -device cpu
elsewhere() { check "the option $1 of other programs" 1 '' "gpulua: unknown option '$1'; use $2" "$1" "${@:3}"; }
elsewhere -c '-e code' 'print(1)'
elsewhere --eval '-e code' 'print(1)'
elsewhere -m '-l module' ffi
elsewhere -V --version
elsewhere '-?' --help
elsewhere -d '--device name' cpu
elsewhere --gpu '--device cuda:0' script.lua
elsewhere --gpu=0 '--device cuda:0' script.lua
elsewhere --cpu '--device cpu' script.lua
elsewhere --list-devices "-e 'print(gpu.devices())', which lists them"
elsewhere --dtype '--default-dtype float32 or float64' float64
elsewhere --interactive -i script.lua
elsewhere -np '--ranks n' 4
elsewhere --timeline '--trace file' run.json
check 'a long option with an empty value' 1 '' "gpulua: option '--device' expects a device" --device= -e ''
check 'a folder as a script' 1 '' "*gpulua: cannot read $scratch: Is a directory*" "$scratch" --check
check '-e without code' 1 '' "gpulua: option '-e' expects code" -e
check '--device without a name' 1 '' "gpulua: option '--device' expects a device" --device
check '--device opens nothing' 0 'fine' '' --device cuda:77 -e 'print("fine")'
check '--default-dtype' 0 'float64' '' --default-dtype float64 -e 'print(gpu.zeros(1).dtype)'
check '--default-dtype of another dtype' 1 '' "gpulua: option '--default-dtype' expects float32 or float64, got 'int8'" --default-dtype=int8
check '--check' 0 'true*cpu' '' --check -e 'print(gpu.check(), gpu.device())'
kernels='local x = gpu.arange(1000, "float32"):eval() for _ = 1, 3 do local y = gpu.exp(x + 1):eval() end'
check '--profile' 0 'done' "*:${newline}kernel *launches *GB/s *compile ms${newline}* 3 *" --profile -e "$kernels print('done')"
check '--profile of a script that fails' 1 '' "gpulua: *oops*${newline}*:${newline}kernel *" --profile -e "$kernels error('oops')"
# What os.exit leaves to the system, a sanitizer would call a leak.
check_exit() { ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" check "$@"; }
check_exit '--profile of a script that exits' 3 '' "*:${newline}kernel *" --profile -e "$kernels os.exit(3)"
check '--profile around gpu.profile' 0 '3' "*:${newline}*${newline}* 6 *" --profile \
  -e "local function work() $kernels end work() local most = 0 for _, row in ipairs(gpu.profile(work)) do most = math.max(most, row.launches) end print(most)"
check '--profile without kernels' 0 '' '' --profile -e 'local gpu = require "gpu"'
check '--trace' 0 'done' '' --trace "$scratch/trace.json" -e "$kernels print('done')"
check 'the file of --trace' 0 '4' '' -e "print(select(2, io.open('$scratch/trace.json'):read('*a'):gsub('\"cat\":\"kernel\"', '')))"
check '--trace without a file' 1 '' "gpulua: option '--trace' expects a file*" --trace
check '--trace with an empty file' 1 '' "gpulua: option '--trace' expects a file*" --trace '' -e ''
check '--trace twice' 1 '' "gpulua: option '--trace' is given twice*" --trace=a --trace=b -e ''
check '--trace to a folder that is not there' 1 '' 'gpulua: [[]trace] expected a file that can be written, got "/no/such/t.json": No such*' --trace /no/such/t.json -e 'print(1)'
check '--trace to a folder that is not there, with ranks' 1 '' 'gpulua: [[]trace] expected a file that can be written, got "/no/such/t.json": No such*' --ranks 2 --trace /no/such/t.json -e 'print(1)'
check '--trace to a full disk' 1 'done' 'gpulua: [[]trace] "/dev/full" cannot be written: No space left on device' --trace /dev/full -e "print('done')"
echo 'print(1)' >"$scratch/deaf.lua"
echo 'print(arg[1])' >"$scratch/listens.lua"
check 'an option after a script without arguments' 0 1 'gpulua: --device follows the script*, so it goes to the script*' "$scratch/deaf.lua" --device cpu
check 'an option of the script itself' 0 --check '' "$scratch/listens.lua" --check
check 'a bit operation that LuaJIT miscompiles' 0 5 '' -e 'local list, other, low, half = {5}, {0} for _ = 1, 100 do low = bit.band(list[1], 255) other[1] = 0 half = list[1] + 0.5 end print(low)'
check '-joff' 0 'false' '' -joff -e 'print((jit.status()))'
check '-O0' 0 'nil' '' -O0 -e 'print(({jit.status()})[8])'
check '-O with an unknown flag' 1 '' 'gpulua: *unknown or malformed*' -Onosuch
check '-jv' 0 '' '*TRACE*loop*' -jv -e 'local x = 0 for i = 1, 1000 do x = x + i end'
check '-j with an unknown command' 1 '' "gpulua: unknown JIT command 'nosuch'*" -jnosuch
check_exit 'os.exit' 7 '' '' -e 'os.exit(7)'
check 'os.exit, closing the state' 1 'closed' '' -e 'p = newproxy(true) getmetatable(p).__gc = function() print("closed") end os.exit(false, true)'
check 'syntax error' 1 '' 'gpulua: (command line):1: *' -e 'x ='
check 'no such script' 1 '' 'gpulua: cannot open *' "$scratch/none.lua"

cat >"$scratch/arguments.lua" <<'LUA'
print(arg[0]:match("[^/]+$"), arg[1], arg[2], #arg, arg[-1], arg[-2], ...)
print(rawget(_G, "gpu"), type(require "gpu"))
LUA
check 'a script' 0 "arguments.lua${tab}a${tab}-b${tab}2${tab}-lffi${tab}*gpulua${tab}a${tab}-b${newline}nil${tab}table" '' \
  -lffi "$scratch/arguments.lua" a -b
check 'a script after --' 0 "arguments.lua${tab}nil${tab}nil${tab}0${tab}--${tab}*" '' -- "$scratch/arguments.lua"

echo 'print(arg[0], ...)' | "$gpulua" - x y >"$scratch/out" 2>"$scratch/err"
matches 'the standard input as -' 0 "-${tab}x${tab}y" '' $?
echo 'print("in")' | "$gpulua" >"$scratch/out" 2>"$scratch/err"
matches 'the standard input' 0 'in' '' $?
device=${GPULUA_DEVICE:-cpu}
function='gpu = require "gpu" print(gpu.vectorize(function(x) return x * 2 end)(gpu.ones(1)):item())'
echo "$function" | "$gpulua" --device "$device" - >"$scratch/out" 2>"$scratch/err"
matches 'the text of the standard input is kept' 0 '2' '' $?
check 'the text of -e is kept' 0 '2' '' --device "$device" -e "$function"
echo "$function" | "$gpulua" --device "$device" -i >"$scratch/out" 2>"$scratch/err"
matches 'the text of a command is kept' 0 '2' '' $?
echo 'print("unread")' | "$gpulua" -e 'print("e")' >"$scratch/out" 2>"$scratch/err"
matches 'no standard input after -e' 0 'e' '' $?
printf '1 + 1\nx = 5; \nx\nfor i = 1, 2 do\nprint(i)\nend\n_ * 2;\n' | "$gpulua" -i >"$scratch/out" 2>"$scratch/err"
matches '-i without a terminal' 0 "2${newline}5${newline}1${newline}2" '' $?

printf 'error("a")\nfor i = 1, 2 do\nerror("b")\nend\nz = = 1\nerror("c")\n' | "$gpulua" -i >"$scratch/out" 2>"$scratch/err"
matches 'commands number their lines' 0 '' "gpulua: stdin:1: a*gpulua: stdin:3: b*gpulua: stdin:5: unexpected*gpulua: stdin:6: c*" $?
printf 'gpu.zeros("a")\n1, nil, 3\n(function() end)()\n=2\n' | "$gpulua" -i >"$scratch/out" 2>"$scratch/err"
matches 'an expression that fails names its line' 0 "1${tab}nil${tab}3${newline}2" 'gpulua: stdin:1: \[zeros\] expected*' $?
printf 'local x = 1\nx\nlocal y = 2\nquit()\n5\n' | "$gpulua" -i >"$scratch/out" 2>"$scratch/err"
matches 'commands that do nothing' 0 'nil' 'hint: a local variable ends with its command; without local it stays*hint: there is no global x' $?
printf 'local a = 3; a\nx = 1; local b, c = 2; c\n' | "$gpulua" -i >"$scratch/out" 2>"$scratch/err"
matches 'locals of the command itself' 0 "3${newline}nil" '' $?
printf 'd = gpu.load "/nowhere/x.npy"\npritn\n' | "$gpulua" -i >"$scratch/out" 2>"$scratch/err"
matches 'variables that are nil' 0 'nil' 'hint: d is nil since stdin:1: \[load\] cannot open*hint: there is no global pritn; did you mean print?' $?
printf 'n = 5; n == 5\nn ~= 5\n=n == 4\n=n\n5\n' | "$gpulua" -i >"$scratch/out" 2>"$scratch/err"
matches 'comparisons are no names' 0 "true${newline}false${newline}false${newline}5${newline}5" '' $?
printf 'x = gpu.ones(2)\nx == 1\nx ~= -2.5\nx == x\n' | "$gpulua" -i >"$scratch/out" 2>"$scratch/err"
matches 'arrays equal no number' 0 "false${newline}true${newline}true" 'hint: x is an array, which equals no number in Lua; x:eq(1) compares its elements*hint: x is an array*x:ne(-2.5)*' $?
echo 'import numpy as np' | "$gpulua" >"$scratch/out" 2>"$scratch/err"
matches 'a hint about the standard input' 1 '' "gpulua: stdin:1: *hint: this is Lua, where gpu has NumPy*" $?
printf 'exit = 3\nexit\ny = 1; y + 1\ny = 2; y;\nfor i = 1, 2 do y = 5; y\nend\n' | "$gpulua" -i >"$scratch/out" 2>"$scratch/err"
matches 'a variable of the name exit; an expression after statements' 0 "3${newline}2" "gpulua: stdin:6: '=' expected near 'end'" $?
printf 'setmetatable({}, {__tostring = function() error("not to be had") end})\n2\n' | "$gpulua" -i >"$scratch/out" 2>"$scratch/err"
matches 'a value that cannot be shown' 0 '2' 'gpulua: stdin:1: not to be had*' $?

LUA_INIT='print("init")' check 'LUA_INIT' 0 "init${newline}e" '' -e 'print("e")'
echo 'print("file")' >"$scratch/init.lua"
LUA_INIT="@$scratch/init.lua" check 'LUA_INIT, a file' 0 "file" '' -e ''
LUA_INIT='error("bad")' check 'LUA_INIT, wrong' 1 '' 'gpulua: LUA_INIT:1: bad*' -e 'print("e")'

"$gpulua" -e 'for i = 1, 1e6 do print(i) end' 2>"$scratch/err" | head -1 >"$scratch/out"
matches 'a broken pipe' 0 '1' '' $?
finish
