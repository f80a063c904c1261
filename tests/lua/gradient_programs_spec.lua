-- Gradients of random functions against differences, and against themselves run in other ways. gradient_fuzz.lua runs more of them.
local programs = require "gradient_programs"

describe("gradients of random functions", function()
  it("are those of differences, however the functions run", function()
    local difference = programs.run(1, 60, 2, 3)
    assert(not difference, difference)
  end)
end)
