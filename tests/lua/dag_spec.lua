-- Random programs against a plain interpreter. Few structures, so that little is compiled; many sizes, values, roots and orders.
-- dag_fuzz.lua runs more of them.
local programs = require "dag_programs"

describe("random programs", function()
  it("give what plain Lua does", function()
    local difference = programs.run(1, 3000, 10, 3)
    assert(not difference, difference)
  end)
end)
