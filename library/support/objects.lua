-- Objects that are made in Lua.
local _, _, core = ...

local objects = {}

local metatable_of = debug.getmetatable -- getmetatable gives the name alone

--- The metatable of a kind of objects, which messages call `name`: `methods`, and the fields that the objects have. Other names
--- are errors, and so are arguments beyond those of a method, `parameters[name]`. `computed`: fields that a function of the object
--- gives.
function objects.class(kind, name, fields, methods, parameters, computed)
  local own, names = {}, fields
  local class = {__metatable = name, methods = own}
  for called, method in pairs(methods) do
    names = names .. ", :" .. called
    own[called] = function(self, ...)
      if type(self) ~= "table" or metatable_of(self) ~= class then
        core.raise(("[%s:%s] expected %s:%s%s, with a colon, got a dot and %s in %s's place"):format(kind, called, kind, called,
          parameters[called] or "()", core.describe(self), kind))
      end
      return method(self, ...)
    end
  end
  core.guard_methods(own, kind .. ":", parameters, kind .. ":")
  function class:__index(key)
    local compute = computed and computed[key]
    if compute then return compute(self) end
    return own[key] or core.raise(("[%s] expected one of the fields %s, got %s"):format(kind, names, core.describe(key)))
  end
  function class.__call()
    core.raise(("[%s] expected a method, %s:name(...), got a call of the object itself; it has %s"):format(kind, kind, names))
  end
  function class:__newindex(key) core.raise(("[%s] expected no new field, got %s"):format(kind, core.describe(key))) end
  return class
end

return objects
