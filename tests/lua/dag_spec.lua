-- Random programs against a plain interpreter. Few structures, so that little is compiled; many sizes, values, roots and orders.
-- dag_fuzz.lua runs more of them.
local dag = require "dag_run"

describe("random programs", function()
  it("give what plain Lua does", function()
    local difference = dag.run(1, 3000, 10, 3)
    assert(not difference, difference)
  end)
end)
