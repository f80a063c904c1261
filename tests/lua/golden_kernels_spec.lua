-- The cases of tests/golden/kernels on the current device, against what a GPU gave (outputs.bin, written by record.lua there).
local golden = (debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$" or ".") .. "/../golden/kernels"
local suite = dofile(golden .. "/suite.lua")
local recorded = suite.read(golden .. "/outputs.bin")

describe("kernels as a GPU runs them", function()
  for _, group in ipairs(suite.groups) do
    describe(group.name, function()
      local outputs
      if not recorded then
        it("runs", function()
          suite.run(group)
          pending "no outputs.bin to compare with: run record.lua on a GPU"
        end)
        return
      end
      setup(function() outputs = suite.run(group) end)
      for number, case in ipairs(group) do
        it(case.name, function()
          local result = suite.compare(recorded, group, number, outputs[number])
          if result == "stale" then return pending "changed since it was recorded: run record.lua on a GPU" end
          assert.are.equal("same", result)
        end)
      end
    end)
  end
end)
