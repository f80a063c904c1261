-- Returns the function that adds functions to `gpu` and to the methods of arrays.
local gpu, methods = ...

return function(functions)
  for name, fn in pairs(functions) do
    gpu[name] = fn
    methods[name] = fn
  end
end
