-- luajit lua_functions.lua FOLDER OUT: a macro list of the functions that LuaJIT's headers in FOLDER declare,
--   LUA_FUNCTION(lua_close, 1)
-- with a number for each: what src/embed/lua_library.cpp makes forwarders of.
local folder, out = arg[1], arg[2]
local names = {}
for _, header in ipairs {"lua.h", "lauxlib.h", "lualib.h", "luajit.h"} do
  local file = assert(io.open(folder .. "/" .. header))
  local text = file:read("*a"):gsub("/%*.-%*/", "")
  file:close()
  -- LUA_API type (name) (parameters); the auxiliary headers leave out the first parentheses.
  for declaration in text:gmatch "LUA%u*_API%s+([^;{}#]-);" do
    local name = declaration:match "%((lua[%w_]+)%)%s*%(" or declaration:match "(lua[%w_]+)%s*%("
    -- lua.h declares lua_setlevel, and LuaJIT has no such function.
    if name ~= "lua_setlevel" then names[#names + 1] = name end
  end
end

table.sort(names)
local lines, previous = {}, nil
for _, name in ipairs(names) do
  if name ~= previous then lines[#lines + 1] = ("LUA_FUNCTION(%s, %d)\n"):format(name, #lines) end
  previous = name
end
assert(#lines > 100, "expected LuaJIT's functions in " .. folder .. ", got " .. #lines)
local file = assert(io.open(out, "w"))
file:write(table.concat(lines))
file:close()
