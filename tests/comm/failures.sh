# An error or the end of one rank ends the others, which name its line.
source "$(dirname "$0")/check.sh"

check 'an error of one rank' 3 1 \
  '\[0\] gpulua: .*script.lua:3: \[comm.barrier\] rank 2 has failed: .*script.lua:2: on purpose' '
local comm = require("gpu").comm; comm.barrier() if comm.rank == 2 then error("on purpose") end
comm.barrier()'

check 'kill -9' 3 137 \
  'rank 1 was ended by signal 9.*script.lua:3: \[comm.all_reduce\] rank 1 has failed: its process|its process.*ended by signal 9' '
local comm = require("gpu").comm; comm.barrier()  if comm.rank == 1 then os.execute("kill -9 $PPID") end
comm.sum(1)'

# On a GPU these wait on the device.
check 'an error of one rank while others reduce an array' 2 1 \
  '\[0\] gpulua: .*script.lua:4: \[comm.all_reduce\] rank 1 has failed: .*script.lua:3: on purpose' '
local gpu = require "gpu"
local comm, x = gpu.comm, gpu.ones(1000) comm.barrier() if comm.rank == 1 then error("on purpose") end
print(comm.all_reduce(x)[1])'

check 'kill -9 while others reduce an array' 2 137 \
  'rank 1 was ended by signal 9|script.lua:4: \[comm.all_reduce\] rank 1 has failed: its process has ended' '
local gpu = require "gpu"
local comm, x = gpu.comm, gpu.ones(1000) comm.all_reduce(x) if comm.rank == 1 then os.execute("kill -9 $PPID") end
print(comm.all_reduce(x)[1])'

GPULUA_COMM_TIMEOUT=1 check 'a rank that does not come to reduce an array' 3 1 'timed out after 1 s waiting for rank 2' '
local gpu = require "gpu"
local comm, x = gpu.comm, gpu.ones(1000) comm.all_reduce(x)
if comm.rank < 2 then print(comm.all_reduce(x)[1]) else local t = os.time() while os.time() < t + 5 do end end'

check 'a script that ends early' 2 1 \
  'script.lua:3: \[comm.sum\] expected the same calls on all ranks: the script of rank 1 has ended' '
local comm = require("gpu").comm; comm.barrier()
if comm.rank == 0 then comm.sum(1) end'

check 'a script without gpu.comm that ends' 3 1 \
  '\[0\] gpulua: .*script.lua:3: \[comm\] expected the same calls on all ranks: rank 1 has ended without gpu.comm, which connects all 3 ranks' '
local comm = require("gpu").comm
if comm.rank == 0 then comm.barrier() elseif comm.rank == 2 then comm.barrier() end'

check 'rank 0 without gpu.comm' 2 1 'rank 0 has ended without gpu.comm, which connects all 2 ranks' '
local comm = require("gpu").comm
if comm.rank == 1 then comm.barrier() end'

check 'another call' 2 1 \
  '\[comm.(all_reduce|barrier)\] expected the same call on all ranks: rank [01] has sent [0-9]+ bytes in (all_reduce|barrier)' '
local comm = require("gpu").comm
if comm.rank == 0 then comm.sum(1) else comm.barrier() end'

check 'another operation' 2 1 'bytes in all_reduce with another dtype or operation, rank [01] awaits' '
local comm = require("gpu").comm
comm.all_reduce(1, comm.rank == 0 and "max" or "min")'

check 'another call under gpu.debug' 2 1 \
  '0 is in all_reduce of sum of float32\(10,\) at [^ ]*script.lua:4, rank 1 is in all_reduce of sum of float64\(10,\) at' '
local gpu = require "gpu"
gpu.debug(true)
if gpu.comm.rank == 0 then gpu.comm.all_reduce(gpu.ones(10))
else gpu.comm.all_reduce(gpu.ones(10, "float64")) end'

GPULUA_COMM_TIMEOUT=1 check 'a rank that does not come' 3 1 'timed out after 1 s waiting for rank 2' '
local comm = require("gpu").comm; comm.barrier()
if comm.rank < 2 then comm.barrier() else local t = os.time() while os.time() < t + 5 do end end'

check 'another root' 2 1 '\[comm.(broadcast|gather|broadcast_object)\] expected one root on all ranks, got [01] on rank [01], [01] on rank [01]' '
local gpu = require "gpu"
for _, name in ipairs { "broadcast", "gather", "broadcast_object" } do
  local ok, message = pcall(gpu.comm[name], name:find "object" and { 3 } or gpu.ones(3), gpu.comm.rank)
  if ok or not message:find(name .. "] expected one root", 1, true) then os.exit(3) end
  gpu.comm.barrier()
end
gpu.comm.broadcast(gpu.ones(3), gpu.comm.rank)'

check 'another dtype in a message' 2 1 'bytes in send with another dtype or operation, rank 1 awaits 12 in recv_' '
local gpu = require "gpu"
if gpu.comm.is_root then gpu.comm.send(gpu.ones(3), 1) else gpu.comm.recv_(gpu.zeros(3, "int32"), 0) end'

GPULUA_COMM_TIMEOUT=3 check 'two that send first' 2 1 'waiting for rank [01] to receive this; two ranks that both send first exchange by' '
local gpu = require "gpu"
local x, other = gpu.ones(4000000), 1 - gpu.comm.rank
gpu.comm.send(x, other) gpu.comm.recv_(x, other)'

check 'another number of items' 2 1 'mean. expected one number of items on all ranks, got 100[01] on rank [01] and 100[01] here' '
local gpu = require "gpu"
gpu.comm.mean(function(f, c) return gpu.ones(c) end, 1000 + gpu.comm.rank)'

check 'abort' 2 1 'rank 1: \[abort\] enough' '
local comm = require("gpu").comm
if comm.rank == 1 then comm.abort("enough") end
comm.barrier()'

check 'a status' 2 7 '\[0\] one  *\[0\] two' '
local comm = require("gpu").comm
comm.print("one\ntwo") comm.barrier()
if comm.rank == 1 then os.exit(7) end'

check 'messages of misuse' 2 0 '^(\[[01]\] good  *){2}$' '
local gpu = require "gpu"
local comm = gpu.comm
local function fails(text, fn, ...)
  local ok, message = pcall(fn, ...)
  if ok or not message:find(text, 1, true) then error("expected " .. text .. ", got " .. tostring(message), 2) end
end
fails("script.lua:9: [comm.all_reduce] expected an array or a number, got \"x\"", function()
  comm.all_reduce("x") end)
fails("[comm.all_reduce] expected sum, prod, max, min or mean, got \"average\"", comm.all_reduce, gpu.ones(2), "average")
fails("[comm.all_reduce] expected sum or mean for complex numbers", comm.all_reduce, gpu.ones(2, "complex64"), "max")
fails("[comm.all_reduce] expected max (or) or min (and) for booleans", comm.all_reduce, gpu.array { true })
fails("expected the option out, got \"into\"", comm.all_reduce, gpu.ones(2), { into = 1 })
fails("[comm.send] expected a rank from 0 to 1, got 2", comm.send, gpu.ones(2), 2)
fails("[comm.recv_] expected another rank, got this one", comm.recv_, gpu.ones(2), comm.rank)
fails("[comm.reduce_scatter] expected an array whose first axis has a multiple of 2 elements", comm.reduce_scatter, gpu.ones(3))
fails("[comm.halo_] expected at least 3 elements along axis 1", comm.halo_, gpu.ones(2), 1)
fails("[comm.all_gather] expected arrays of one dtype", comm.all_gather, gpu.ones(2, comm.rank == 0 and "float32" or "float64"))
fails("[comm.barrier] expected a call outside of comm.group", comm.group, function() comm.barrier() end)
fails("[comm.broadcast_object] expected tables of numbers, strings and booleans", comm.broadcast_object, { print }, comm.rank)
fails("[rand] expected a part within its draw, got rows 3 to 6 of 5", gpu.rand, 4, { part = { 3, 5 } })
fails("[comm.mean] expected a function that gives arrays of 4096 real numbers", comm.mean, function() return gpu.ones(3) end, 8192)
fails("use gpu.comm.all_reduce(x, operation)", function() return comm.allreduce end)
print "good"'

finish
