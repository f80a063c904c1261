-- luajit bytecode.lua SOURCE OUTPUT: the source as bytecode, with its lines for messages and tracebacks.
local source, output = ...
local file = assert(io.open(source, "rb"))
local chunk = assert(loadstring(file:read "*a", "=[gpulua]"))
file:close()
file = assert(io.open(output, "wb"))
assert(file:write(string.dump(chunk)))
assert(file:close())
