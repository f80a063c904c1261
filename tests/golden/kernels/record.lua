-- gpulua tests/golden/kernels/record.lua DIR
-- Runs all cases on the current device, which should be a GPU, and writes their outputs to DIR/outputs.bin.
local folder = arg[0]:match "^(.*)/" or "."
local suite = dofile(folder .. "/suite.lua")
local path = assert(arg[1], "usage: record.lua DIR") .. "/outputs.bin"
local file = assert(io.open(path, "wb"))
suite.write_versions(file)
local cases = 0
for _, group in ipairs(suite.groups) do
  suite.write(file, group, suite.run(group))
  cases = cases + #group
end
local bytes = file:seek()
file:close()
print(("%d cases, %d bytes in %s"):format(cases, bytes, path))
