-- Gradients of random functions against differences, and against themselves run in other ways. gradient_fuzz.lua runs more of them.
local programs = require "gradient_programs"

describe("gradients of random functions", function()
  it("are those of differences, however the functions run", function()
    local difference = programs.run(1, 60, 2, 3)
    assert(not difference, difference)
  end)

  -- The greatest element of what follows from a sum, which kernels of a GPU add up in different orders.
  it("find the greatest element though it is computed again", function()
    local difference = programs.run(13325, 1, 1, 1)
    assert(not difference, difference)
  end)
end)
