-- gpulua tests/docs/run_examples.lua file.md...
-- Runs the Lua blocks of documents. The blocks of one document share their globals, as the sections of a page share what its
-- first block sets, and each starts on the device that is current at first. Exits with 1 when a block fails, and when a document
-- has none. A block that needs the cpu device's compiler or OpenGL is passed over where that is not installed. Files
-- that blocks write go to a temporary folder, which is removed.

--- The blocks between ```lua and ``` lines: {line = of the first line of code, code = text}.
local function read_blocks(path)
  local blocks, block = {}, nil
  local number = 0
  for line in assert(io.open(path)):lines() do
    number = number + 1
    if block and line == "```" then
      blocks[#blocks + 1] = { line = block.line, code = table.concat(block.lines, "\n") }
      block = nil
    elseif block then
      block.lines[#block.lines + 1] = line
    elseif line == "```lua" then
      block = { line = number + 1, lines = {} }
    end
  end
  assert(not block, path .. ": the last block has no end")
  return blocks
end

--- Runs a block; messages and tracebacks name the document and its line.
local function run_block(path, block, globals)
  local code = ("\n"):rep(block.line - 1) .. block.code
  local chunk, message = loadstring(code, "@" .. path)
  -- Functions for devices are read from the chunk's text, which is not the file's.
  local registry = debug.getregistry()
  registry["gpulua.chunk_texts"] = {"@" .. path, code}
  if not chunk then return false, message end
  return xpcall(setfenv(chunk, globals), function(failure) return debug.traceback(tostring(failure), 2) end)
end

local gpu = require "gpu"
local ffi = require "ffi"
local device = gpu.device().name

local documents = {}
for i, path in ipairs(arg) do
  documents[i] = { path = path, blocks = read_blocks(path) }
  assert(#documents[i].blocks > 0, path .. ": no Lua block")
end

pcall(ffi.cdef, "char* mkdtemp(char*); int chdir(const char*);")
local folder = ffi.new("char[32]", "/tmp/gpulua-docs-XXXXXX")
assert(ffi.C.mkdtemp(folder) ~= nil and ffi.C.chdir(folder) == 0, "no temporary folder")

local failed = 0
for _, document in ipairs(documents) do
  local path, globals = document.path, setmetatable({}, { __index = _G })
  for _, block in ipairs(document.blocks) do
    gpu.device(device)
    local good, message = run_block(path, block, globals)
    if not good and message:find("the cpu device compiles kernels with clang", 1, true) then
      print(("%s:%d: passed over, no compiler"):format(path, block.line))
    elseif not good and (message:find("[window] windows need EGL", 1, true)
      or message:find("[window] EGL gives no OpenGL", 1, true)) then
      print(("%s:%d: passed over, no OpenGL"):format(path, block.line))
    elseif not good then
      failed = failed + 1
      io.stderr:write(("the block at %s:%d failed: %s\n"):format(path, block.line, message))
    end
  end
  print(("%s: %d blocks"):format(path, #document.blocks))
end
os.execute("rm -r " .. ffi.string(folder))
os.exit(failed == 0 and 0 or 1, true)
