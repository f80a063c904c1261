-- Whether an assignment's key is a value that nothing else has. The chunk gets the bytecode's readers and returns a function
-- (fn, line): the register of bytecode.called_key, found once for each line of a function.
local bytecode = ...
if not bytecode then return function() end end

local known = setmetatable({}, { __mode = "k" })

return function(fn, line)
  local lines = known[fn]
  if not lines then
    lines = {}
    known[fn] = lines
  end
  if lines[line] == nil then lines[line] = bytecode.called_key(fn, line) or false end
  return lines[line] or nil
end
