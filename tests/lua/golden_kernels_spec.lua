-- The cases of tests/golden/kernels on the current device, against what a GPU gave (outputs.bin, written by record.lua there).
local golden = (debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$" or ".") .. "/../golden/kernels"
local suite = dofile(golden .. "/suite.lua")
local recorded = suite.read(golden .. "/outputs.bin")

-- Where the CPU device is known to differ from a GPU; docs/cpu-device.md says the same to its users.
local on_cpu = require("gpu").device().kind == "cpu"
local function differs(reason, group, names)
  local known = {}
  for name in names:gmatch "%S+" do known[group .. " " .. name] = reason end
  return known
end
local differences = {}
for _, known in ipairs {
  differs("another way from the same uniform numbers", "random",
    "xorwow_normals xorwow_normal_doubles philox_doubles philox_normals philox_normal_doubles"),
} do
  for name, reason in pairs(known) do differences[name] = reason end
end

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
          local difference = on_cpu and differences[group.name .. " " .. case.name]
          if difference and result ~= "same" then return pending(difference .. ": " .. result) end
          -- What has been mended goes off the list.
          assert.is_nil(difference or nil)
          assert.are.equal("same", result)
        end)
      end
    end)
  end
end)
