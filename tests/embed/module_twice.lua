-- luajit module_twice.lua path/to/libgpulua.so: a state that opens the module twice has it once.
local open = assert(package.loadlib(arg[1], "luaopen_gpu"))
local first = open()
local x = first.ones(3)
local second = open()
assert(first == second and first == require "gpu")
for _ = 1, 100 do
  collectgarbage()
  x = x + second.ones(3)
end
assert(x:sum():item() == 303)

-- Also where what require found is forgotten.
package.loaded.gpu = nil
assert(require "gpu" == first)
print "passed"
