-- gpulua tests/lua/dag_fuzz.lua SEED COUNT [STRUCTURES [ORDERS [FILE]]]
-- Runs COUNT random programs (dag_programs.lua) and exits with 1 and a short one at the first difference. Each is written to FILE
-- before it runs, for one that ends the process. More structures and orders mean more kernels to compile.
package.path = (arg[0]:match "^(.*)/" or ".") .. "/?.lua;" .. package.path
local dag = require "dag_run"

local seed, count = tonumber(arg[1]), tonumber(arg[2])
if not seed or not count then
  io.stderr:write "usage: gpulua dag_fuzz.lua SEED COUNT [STRUCTURES [ORDERS [FILE]]]\n"
  os.exit(2)
end

local function note(lines)
  local file = assert(io.open(arg[5], "w"))
  file:write(table.concat(lines, "\n"), "\n")
  file:close()
end

local difference = dag.run(seed, count, tonumber(arg[3]) or 200, tonumber(arg[4]) or 10, arg[5] and note)
if difference then
  print(difference)
  os.exit(1)
end
print(("%d programs, none differs"):format(count))
