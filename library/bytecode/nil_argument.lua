-- The variable that a script passes. The chunk gets the bytecode's readers and returns a function (fn, line, called, count, index):
-- what argument `index` of the call of `called` with `count` arguments on that line of fn is: "global", "upvalue" or "field" and its
-- name, or "local" and its register. Nil is anything else, also where the line has several such calls that differ.
local bytecode = ...
if not bytecode then return function() end end

return function(fn, line, called, count, index)
  local kind, name
  for pc in bytecode.calls(fn) do
    if bytecode.line(fn, pc) == line and bytecode.argument_count(fn, pc) == count then
      local callee, field = bytecode.callee(fn, pc)
      if callee ~= "field" or field == called then
        local kind_here, name_here = bytecode.variable(fn, pc, index)
        if not kind_here or kind and (kind_here ~= kind or name_here ~= name) then return end
        kind, name = kind_here, name_here
      end
    end
  end
  return kind, name
end
