-- Host times of calls: ours, and those of a C++ loop in the same process, batch by batch in turn; nothing waits within a batch.
local gpu = require "gpu"
local timing = require "timing"

local function median(values)
  table.sort(values)
  return values[math.ceil(#values / 2)]
end

--- Prints the medians of the host time of ours(), of theirs(calls), which gives microseconds, and of the ratio.
return function(name, ours, theirs)
  -- Fewer than the driver queues before a launch waits for the device.
  local calls, batches = 500, 201
  local own, other, ratios = {}, {}, {}
  for batch = 0, batches do -- the 0th warms up
    gpu.sync()
    local start = timing.now()
    for _ = 1, calls do ours() end
    own[batch] = (timing.now() - start) * 1e3 / calls
    gpu.sync()
    other[batch] = theirs(calls)
    ratios[batch] = own[batch] / other[batch]
  end
  print(("%s %.3f us, C++ %.3f us, ratio %.3f (medians of %d batches of %d)"):format(name, median(own), median(other),
    median(ratios), batches, calls))
end
