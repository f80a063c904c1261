-- Methods of columns that are about their numbers as they are stored, and about their memory.
local _, array_methods = ...

--- Adds them, those in `names` among them, to the methods of a column. plain(x) is the array of a column's numbers.
return function(methods, plain, names)
  for _, op in ipairs(names) do
    methods[op] = function(x, ...) return array_methods[op](plain(x), ...) end
  end
  function methods.eval(x)
    array_methods.eval(plain(x))
    return x
  end
  function methods.free(x) return array_methods.free(plain(x)) end
end
