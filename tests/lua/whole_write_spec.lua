-- Writes of whole arrays, x:copy_(value), out= and the like: what moves, what other arrays see, and when it runs.
local gpu = require "gpu"
local support = require "support"

local n = 4096

--- The bytes that the kernels of a call move, in arrays of n float32.
local function streams(fn)
  local bytes = 0
  for _, row in ipairs(gpu.profile(fn)) do bytes = bytes + row.bytes end
  return bytes / (4 * n)
end

local function arrays(count)
  local all = {}
  for i = 1, count do
    all[i] = gpu.arange(n, "float32") / n + i
    all[i]:eval()
  end
  return unpack(all)
end

describe("a write of a whole array", function()
  -- Each form: how many arrays it reads and writes.
  local forms = {
    {"a product", 2, function()
      local x = arrays(1)
      return function() x:copy_(x * 2) end
    end},
    {"SGD", 3, function()
      local p, g = arrays(2)
      return function() p:copy_(p - 0.1 * g) end
    end},
    {"momentum", 5, function()
      local p, v, g = arrays(3)
      return function()
        v:copy_(v * 0.9 + g)
        p:copy_(p - 0.1 * v)
      end
    end},
    {"Adam", 7, function()
      local m, v, p, g = arrays(4)
      return function()
        m:copy_(m * 0.9 + g * 0.1)
        v:copy_(v * 0.999 + g * g * 0.001)
        p:copy_(p - 0.01 * m / (v:sqrt() + 1e-8))
      end
    end},
    {"RMSprop", 5, function()
      local v, p, g = arrays(3)
      return function()
        v:copy_(v * 0.9 + g * g * 0.1)
        p:copy_(p - 0.01 * g / (v + 1e-8):sqrt())
      end
    end},
    {"leapfrog", 4, function()
      local x, v = arrays(2)
      return function()
        v:copy_(v - 0.01 * x)
        x:copy_(x + 0.01 * v)
      end
    end},
    {"out =", 3, function()
      local x, y = arrays(2)
      return function() gpu.add(x, y, {out = x}) end
    end},
    {"another dtype", 3, function()
      local x, y = arrays(2)
      return function() x:copy_(x:astype "float64" * y) end
    end},
    {"one that nobody reads before the next", 2, function()
      local x, y = arrays(2)
      local z = x + 1
      return function() x:copy_(y * 2 + 0 * z.ndim) end
    end},
  }
  for _, form in ipairs(forms) do
    local name, expected, make = unpack(form)
    it("moves no more than it reads and writes: " .. name, function()
      local step = make()
      for _ = 1, 3 do assert.are.equal(expected, streams(step)) end
      -- Without a wait a step is evaluated when the next one begins.
      assert.are.equal(3 * expected, streams(function() for _ = 1, 3 do step() end end))
    end)
  end

  it("compiles its kernel once, however many steps run and whatever is read between them", function()
    local function kernels_of(steps)
      local output, status, kernels = support.run_cold(([[
        local gpu = require "gpu"
        local p, v, g = gpu.ones(100), gpu.zeros(100), gpu.ones(100)
        for i = 1, %d do
          v:copy_(v * 0.5 + g)
          p:copy_(p - v)
          if i %% 10 == 0 then print(p:sum():item()) end
        end
      ]]):format(steps))
      assert(status == 0, output)
      return kernels
    end
    assert.are.equal(kernels_of(20), kernels_of(220))
  end)

  it("compiles few kernels where a program decides at random what it writes", function()
    local output, status, kernels = support.run_cold [[
      local gpu = require "gpu"
      local xs = {}
      for i = 1, 50 do xs[i] = gpu.full({20}, i):eval() end
      local rules = {
        function(x) x:copy_(x * 0.5) end, function(x) x:copy_(x + 1) end, function(x) x:copy_(x - x:abs() * 2) end,
        function(x) x:copy_(x / 3 + 1) end, function(x) x:copy_(gpu.maximum(x, 2)) end,
      }
      for _ = 1, 1500 do
        for _ = 1, math.random(6) do rules[math.random(5)](xs[math.random(50)]) end
        xs[math.random(50)]:sum():item()
      end
    ]]
    assert(status == 0, output)
    assert(kernels < 150, kernels)
  end)

  it("leaves what was read before", function()
    local x = gpu.arange(5, "float32")
    local y, row = x + 1, x("2:3")
    x:copy_(x * 10)
    assert.are.same({1, 2, 3, 4, 5}, y:table())
    assert.are.same({10, 20}, row:table())
    assert.are.same({0, 10, 20, 30, 40}, x:table())
    local z = x * 2
    x:fill_(7)
    assert.are.same({0, 20, 40, 60, 80}, z:table())
    local w = x + 1
    x:copy_from {1, 2, 3, 4, 5}
    assert.are.same({8, 8, 8, 8, 8}, w:table())
  end)

  it("is seen by each name of the array, and by tables, graphs and kernels that have it", function()
    local x, y = gpu.ones(4), gpu.arange(4, "float32")
    local same, holder = x, {x}
    local double, doubled = gpu.graph(function() return x * 2 end)
    x:copy_(y + 1)
    assert.are.same({1, 2, 3, 4}, same:table())
    assert.are.same({1, 2, 3, 4}, holder[1]:table())
    double:launch()
    assert.are.same({2, 4, 6, 8}, doubled:table())
    x:copy_(x + y)
    local k = gpu.kernel([[__global__ void add_one(float* x) { x[threadIdx.x] += 1; }]], "add_one")
    k {grid = 1, block = 4} (x)
    assert.are.same({2, 4, 6, 8}, same:table())
    double:launch()
    assert.are.same({4, 8, 12, 16}, doubled:table())
  end)

  it("keeps the address that a script has read", function()
    local x = gpu.ones(8)
    local address = x.pointer
    x:copy_(x * 2)
    assert.are.equal(address, x.pointer)
    assert.are.same({2, 2, 2, 2, 2, 2, 2, 2}, x:table())
  end)

  it("outlives a gpu.scope in which it is written, and so does a view", function()
    local x, y = gpu.ones(4), gpu.arange(4, "float32")
    local pending = y * 3
    gpu.scope(function()
      x:copy_(x + y)
      assert.are.same({1, 2}, x("1:2"):table())
      assert.are.same({0, 3}, pending("1:2"):table())
      y:copy_(x:contiguous() * 2)
      y:contiguous():eval()
    end)
    assert.are.same({1, 2, 3, 4}, x:table())
    assert.are.same({2, 4, 6, 8}, y:table())
    assert.are.same({0, 3, 6, 9}, pending:table())
  end)

  it("writes in place where memory is short", function()
    local limit = gpu.memory().limit
    local x = gpu.ones(1024, 1024)
    gpu.set_memory_limit(gpu.memory().used + 1024 * 1024)
    local ok, message = pcall(function()
      for _ = 1, 5 do gpu.multiply(x, 2, {out = x}) end
      gpu.sync()
    end)
    gpu.set_memory_limit(limit)
    assert(ok, message)
    assert.are.equal(32, x(7, 9):item())
  end)

  it("that cannot be computed raises when it is waited for, with its line, and leaves other arrays alone", function()
    local x, y, z = gpu.ones(3), gpu.ones(3), gpu.ones(3)
    local bad = gpu.elementwise {inputs = "float32 x", outputs = "float32 y", body = "y = no_such_function(x)"}
    x:copy_(bad(y))
    z:copy_(y + 1)
    assert.are.same({2, 2, 2}, z:table())
    support.fails("whole_write_spec.lua", gpu.sync)
    gpu.sync()
    support.fails("no_such_function", x.table, x)
    x:fill_(3)
    assert.are.same({3, 3, 3}, x:table())
    -- Nor is it lost at the script's end.
    local output, status = support.run [[
      local gpu = require "gpu"
      local bad = gpu.elementwise {inputs = "float32 x", outputs = "float32 y", body = "y = no_such_function(x)"}
      gpu.ones(3):copy_(bad(gpu.ones(3)))
      held = gpu.ones(3)
      held:copy_(bad(held))
    ]]
    assert(status == 1 and output:find("no_such_function", 1, true), output)
  end)

  it("gives the same as a plain interpreter in random programs", function()
    local size = 6
    for seed = 1, 150 do
      math.randomseed(seed)
      local function pick(list) return list[math.random(#list)] end
      -- An array's model: the table of its memory, and where it begins and ends there.
      local vars = {}
      local function fresh(array, values)
        local model = {array = array, memory = values, first = 1, count = #values}
        vars[#vars + 1] = model
        if #vars > 7 then table.remove(vars, math.random(#vars)) end
        return model
      end
      local function get(model, i) return model.memory[model.first + i - 1] end
      local function values(model)
        local all = {}
        for i = 1, model.count do all[i] = get(model, i) end
        return all
      end
      local function set(model, new) for i = 1, model.count do model.memory[model.first + i - 1] = new[i] end end
      local function random_values(count)
        local all = {}
        for i = 1, count do all[i] = math.random(0, 9) end
        return all
      end
      for _ = 1, 3 do
        local v = random_values(size)
        fresh(gpu.array(v), v)
      end
      --- An expression of that length, and its values.
      local function expression(count)
        local fitting = {}
        for _, v in ipairs(vars) do if v.count == count then fitting[#fitting + 1] = v end end
        if #fitting == 0 then return gpu.full({count}, 4), random_values(0), true end
        local a, b, c = pick(fitting), pick(fitting), math.random(0, 3)
        local x, result = (a.array - b.array) + c, {}
        for i = 1, count do result[i] = get(a, i) - get(b, i) + c end
        if math.random(4) == 1 then
          x = x:sum(1, {keepdims = true}) - a.array
          local sum = 0
          for i = 1, count do sum = sum + result[i] end
          for i = 1, count do result[i] = sum - get(a, i) end
        end
        -- Small, so that float32 has them exactly.
        x = gpu.where(x:abs():gt(1000), c, x)
        for i = 1, count do if math.abs(result[i]) > 1000 then result[i] = c end end
        return x, result
      end
      local trail = {}
      for _ = 1, 40 do
        local v, kind = pick(vars), math.random(11)
        trail[#trail + 1] = kind
        if kind <= 3 then
          local x, new, none = expression(v.count)
          if not none then
            v.array:copy_(x)
            set(v, new)
          end
        elseif kind == 4 then
          local x, new, none = expression(size)
          if not none then fresh(x, new) end
        elseif kind == 5 then
          v.array:fill_(5)
          local new = {}
          for i = 1, v.count do new[i] = 5 end
          set(v, new)
        elseif kind == 6 then
          local new = random_values(v.count)
          v.array:copy_from(new)
          set(v, new)
        elseif kind == 7 and v.count > 2 then
          local part = fresh(v.array("2:" .. v.count - 1), {})
          part.memory, part.first, part.count = v.memory, v.first + 1, v.count - 2
        elseif kind == 8 then
          local other, new = pick(vars), {}
          if other.count == v.count then
            for i = 1, v.count do new[i] = get(v, i) + get(other, i) end
            gpu.add(v.array, other.array, {out = v.array})
            set(v, new)
          end
        elseif kind == 9 then
          local other = pick(vars)
          if other.count == v.count then
            local new = values(other)
            v.array:copy_(other.array)
            set(v, new)
          end
        elseif kind == 10 then
          if math.random(2) == 1 then collectgarbage() else gpu.sync() end
        else
          assert.are.same(values(v), v.array:table(), "seed " .. seed .. ": " .. table.concat(trail, " "))
        end
      end
      for _, v in ipairs(vars) do
        assert.are.same(values(v), v.array:table(), "seed " .. seed .. ": " .. table.concat(trail, " "))
      end
    end
  end)
end)
