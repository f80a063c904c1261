-- luajit closing.lua path/to/libgpulua.so: when a state is closed, the finalizer of an object that is older than the module
-- comes after the module's own. It finds the module's functions, and its calls of them are errors.
local gpu, x, made
local older = newproxy(true)
getmetatable(older).__gc = function()
  assert(made)
  local messages = {}
  for _, call in ipairs {
    function() return gpu.ones(3) end,
    function() return x + 1 end,
    function() return x.shape end,
    function() return x:table() end,
    function() return #x end,
    function() return tostring(x) end,
    function() gpu.sync() end,
    function() gpu.with(gpu.stream(), print) end,
  } do
    local good, message = pcall(call)
    if good or not tostring(message):find("closed", 1, true) and not tostring(message):find("expected an array", 1, true) then
      messages[#messages + 1] = tostring(message)
    end
  end
  -- An error in a finalizer of a state that is closed would be dropped.
  if #messages > 0 then
    io.stderr:write("not an error of the closed state: ", table.concat(messages, "; "), "\n")
    os.exit(1)
  end
  print "passed"
end
_G.kept = older
gpu = assert(package.loadlib(arg[1], "luaopen_gpu"))()
x = gpu.ones(3) + 1
made = x:sum():item() == 6
