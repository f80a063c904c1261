-- gpulua tests/lua/run.lua spec.lua...
-- Runs specs in busted's style. Exits with 1 when one fails, and when there was nothing to run.
local folder = arg[0]:match "^(.*)/" or "."
package.path = folder .. "/?.lua;" .. package.path

local found, message = pcall(require, "busted")
if not found then
  io.stderr:write("the specs need busted, install lua-busted: ", message:match "^[^\n]*", "\n")
  os.exit(1)
end

local specs = 0
-- Busted loads this before the specs, once there is something to subscribe to.
package.preload["tests.count"] = function()
  require("busted").subscribe({ "test", "end" }, function()
    specs = specs + 1
    return nil, true
  end)
  return true
end

arg = { [0] = arg[0], "--helper=tests.count", unpack(arg) }
-- Called from a chunk of ours, the runner would report failures by an error without a message; from pcall it exits.
assert(pcall(require "busted.runner", { standalone = false }))
if specs == 0 then
  io.stderr:write("no spec ran\n")
  os.exit(1)
end
