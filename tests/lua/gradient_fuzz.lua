-- gpulua tests/lua/gradient_fuzz.lua FIRST COUNT [VALUES [WAYS]]
-- Checks the gradients of COUNT random functions (gradient_programs.lua) from number FIRST on, each with VALUES (1) arguments, and every
-- WAYS-th (5) also in other ways. Prints those that differ and exits with 1.
package.path = (arg[0]:match "^(.*)/" or ".") .. "/?.lua;" .. package.path
local programs = require "gradient_programs"

local first, count = tonumber(arg[1]), tonumber(arg[2])
if not first or not count then
  io.stderr:write "usage: gpulua gradient_fuzz.lua FIRST COUNT [VALUES [WAYS]]\n"
  os.exit(2)
end
local differ = 0
for number = first, first + count - 1 do
  local difference = programs.run(number, 1, tonumber(arg[3]) or 1, tonumber(arg[4]) or 5)
  if difference then
    differ = differ + 1
    print(difference)
  end
end
print(("%d functions, %d differ"):format(count, differ))
if differ > 0 then os.exit(1) end
