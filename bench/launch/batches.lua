-- Host times of calls, batch by batch in turn; nothing waits within a batch.
local gpu = require "gpu"
local timing = require "timing"

local batches = {}

-- Fewer than the driver queues before a launch waits for the device.
local calls, count = 500, 201

local function median(values)
  table.sort(values)
  return values[math.ceil(#values / 2)]
end

--- A function of a number of calls of work(), which makes them and gives the microseconds of one.
function batches.timed(work)
  return function(number)
    gpu.sync()
    local start = timing.now()
    for _ = 1, number do work() end
    return (timing.now() - start) * 1e3 / number
  end
end

--- Prints the medians of the microseconds that two such functions give, and of the first one's ratio to the second. `name` and `other`:
--- what the print calls them.
function batches.compare(name, ours, other, theirs)
  local own, others, ratios = {}, {}, {}
  for batch = 0, count do -- the 0th warms up
    own[batch] = ours(calls)
    gpu.sync()
    others[batch] = theirs(calls)
    ratios[batch] = own[batch] / others[batch]
  end
  print(("%s %.3f us, %s %.3f us, ratio %.3f (medians of %d batches of %d)"):format(name, median(own), other, median(others),
    median(ratios), count, calls))
end

return batches
