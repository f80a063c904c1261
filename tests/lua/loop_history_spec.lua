-- A loop that runs again with the same shapes and dtypes compiles nothing, whatever ran before and between.
local support = require "support"

--- Runs the Lua text in a process of its own with an empty kernel cache. There, `count()` gives the number of kernels that were
--- compiled so far. The text prints what is wrong.
local function expect_nothing(text, what)
  local output, status = support.run_cold(([[
    package.path = %q
    local gpu = require "gpu"
    local support = require "support"
    local function count() return support.cached_kernels(os.getenv "GPULUA_CACHE_DIR") end
    local function run_again(name, fn)
      fn()
      local before = count()
      for _ = 1, 3 do fn() end
      if count() ~= before then print(name .. " compiles " .. count() - before .. " kernels in later calls") end
    end
    %s]]):format(package.path, text), "history.lua")
  -- The command warns of a line that compiles many kernels, as the calls of `fn` do.
  output = output:gsub("[^\n]*this line has compiled more than[^\n]*\n", "")
  assert(status == 0 and output == "", what .. ": " .. output)
end

describe("the second call of a loop", function()
  for _, steps in ipairs {5, 7, 20, 50, 101} do
    it("compiles nothing, in " .. steps .. " steps", function()
      expect_nothing(([[
        local samples = require "loop_samples"
        local names = {}
        for name in pairs(samples.elementwise) do names[#names + 1] = name end
        table.sort(names)
        for _, name in ipairs(names) do
          run_again(name, function()
            for _, x in ipairs {samples.elementwise[name](samples.arrays(1000), %d)} do x:mean():item() end
          end)
        end
        names = {}
        for name in pairs(samples.others) do names[#names + 1] = name end
        table.sort(names)
        for _, name in ipairs(names) do run_again(name, function() samples.others[name](%d) end) end]]):format(steps, steps),
        steps .. " steps")
    end)
  end

  --- A random loop as text: states that build on themselves and on each other, random numbers, a loop around it, looks at a state.
  --- All results are read. Others are in the expressions until they are collected, so they may take a kernel more.
  local function random_loop(random)
    local states, lines = random(1, 4), {}
    local function state() return "s" .. random(1, states) end
    local function line(text, ...) lines[#lines + 1] = text:format(...) end
    line "return function()"
    for i = 1, states do
      line("local s%d = %s", i, ({"gpu.full(500, 0.5)", "gpu.linspace(0, 1, 500)", "gpu.rand(500)"})[random(1, 3)])
    end
    local outer, steps = random(1, 3), random(1, 40)
    line("for i = 1, %d do", outer)
    line("for k = 1, %d do", steps)
    for _ = 1, random(1, 6) do
      local kind = random(1, 8)
      local own = state()
      if kind == 1 then line("local z = gpu.randn(500) %s = %s + 0.01 * z * %s", own, own, state())
      elseif kind == 2 then line("%s = gpu.sin(%s * 1.1 + %s)", own, own, state())
      elseif kind == 3 then line("%s = 0.9 * %s + 0.1 * %s", own, own, state())
      elseif kind == 4 then line("%s = gpu.maximum(%s, 0.25 * %s)", own, state(), own)
      elseif kind == 5 then line("%s = %s * gpu.exp(-0.01 * %s * %s)", own, own, state(), state())
      elseif kind == 6 then line("%s = gpu.where(%s:gt(0.3), %s, %s - 0.1)", own, own, state(), state())
      elseif kind == 7 then line("%s = %s - %s:mean()", own, own, state())
      else line("if k %% %d == 0 then local _ = %s:mean():item() end", random(1, 10), state()) end
    end
    line "end"
    if random(1, 3) == 1 then line("%s = %s / 2", state(), state()) end
    line "end"
    for i = 1, states do line("s%d:mean():item()", i) end
    line "end"
    return table.concat(lines, "\n")
  end

  for seed = 1, 4 do
    it("compiles nothing in random loops, seed " .. seed, function()
      math.randomseed(seed)
      local parts = {"local loops = {}"}
      for i = 1, 15 do parts[#parts + 1] = ("loops[%d] = assert(loadstring(%q, '=loop%d'))"):format(i, "local gpu = require 'gpu' " .. random_loop(math.random), i) end
      parts[#parts + 1] = [[
        for i, loop in ipairs(loops) do
          loop = loop()
          loops[i] = loop
          run_again("loop " .. i, loop)
        end
        -- In another order, and one after the other.
        local before = count()
        for i = #loops, 1, -1 do loops[i]() end
        for i = 1, #loops, 2 do loops[i]() end
        if count() ~= before then print("other orders compile " .. count() - before .. " kernels") end]]
      expect_nothing(table.concat(parts, "\n"), "seed " .. seed)
    end)
  end
end)

describe("arrays of many lengths", function()
  it("share a few kernels", function()
    expect_nothing([[
      local function kernels_for(name, most, fn)
        local before = count()
        for n = 1, 200, 3 do fn(n) end
        for n = 1000, 100000, 9973 do fn(n) end
        if count() - before > most then print(name .. " compiles " .. count() - before .. " kernels") end
      end
      local x = gpu.rand(100000):eval()
      kernels_for("sum", 5, function(n) x("1:" .. n):sum():item() end)
      kernels_for("argmax", 5, function(n) x("1:" .. n):argmax():item() end)
      kernels_for("scaled", 5, function(n) (x("1:" .. n) * 2 + 1):eval() end)
      kernels_for("cumsum", 6, function(n) x("1:" .. n):cumsum():eval() end)]], "many lengths")
  end)
end)
