-- The cases of tests/golden/kernels on the current device, against the outputs of a GPU (outputs.bin, which record.lua wrote).
local golden = (debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$" or ".") .. "/../golden/kernels"
local suite = dofile(golden .. "/suite.lua")
local recorded = suite.read(golden .. "/outputs.bin")

describe("kernels as a GPU runs them", function()
  for _, group in ipairs(suite.groups) do
    describe(group.name, function()
      local outputs
      setup(function() outputs = suite.run(group) end)
      for number, case in ipairs(group) do
        it(case.name, function() assert.are.equal("same", suite.compare(recorded, group, number, outputs[number])) end)
      end
    end)
  end
end)
