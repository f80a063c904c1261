-- gpu.explain beside what evaluating launches: as many kernels, of the same names, which store the arrays that were asked for.
local gpu = require "gpu"
local dag = require "dag_run"
local samples = require "loop_samples"
local support = require "support"

--- The names of the kernels, sorted: those that gpu.explain shows, and those that ran.
local function said(text)
  local names = {}
  for name in text:gmatch "__global__[^\n]- (gpulua_[%w_]*)%(" do names[#names + 1] = name end
  assert(#names == (tonumber(text:match "^(%d+) kernels?[,\n]") or 0), text)
  table.sort(names)
  return table.concat(names, " ")
end

local function ran(rows)
  local names = {}
  for _, row in ipairs(rows) do
    for _ = 1, row.launches do names[#names + 1] = row.name end
  end
  table.sort(names)
  return table.concat(names, " ")
end

--- gpu.eval, which raises an error where it does something else than gpu.explain says.
local function eval(...)
  local arrays, text = {...}, gpu.explain(...)
  local rows = gpu.profile(function() gpu.eval(unpack(arrays)) end)
  if said(text) ~= ran(rows) then error(("explained: %s\nlaunched: %s\n%s"):format(said(text), ran(rows), text), 2) end
  assert(gpu.explain(...):find "^nothing to compute")
  return text
end

local function matrix(rows, columns) return (gpu.arange(rows * columns) % 97):reshape(rows, columns):astype "float32":eval() end

describe("gpu.explain", function()
  it("shows the kernels that run: elementwise, reductions, scans, transposes, masks, gathers", function()
    local m, v = matrix(64, 48), matrix(1, 3000):reshape(3000):eval()
    local square = matrix(256, 256)
    for _, make in ipairs {
      function() return m + 1 end,
      function() return m * 2, m:sum(), m:max(2) end,
      function() return m - m:mean(2, {keepdims = true}) end,
      function() return gpu.softmax and gpu.softmax(m) or gpu.exp(m - m:max(2, {keepdims = true})) end,
      function() return (m - m:mean()):abs():sum(1) end,
      function() return (m({1, 64}, {1, 3}) * 2):sum(2):max() end,
      function() return v:cumsum() + v, gpu.cumsum(v * 2) end,
      function() return square + square.T, (square.T * 2):sum(2) end,
      function() return m[m:gt(50)] * 2 end,
      function() return gpu.where(m:gt(50), m, -m):sum(1) end,
      function() return m:take({3, 1, 3}, 1) * 2, (m + 1):take({3, 1}, 2) end,
      function() return (gpu.rand(100) + 1):log(), gpu.zeros(0, 3) + 1, gpu.full({2, 2}, 3) end,
    } do
      eval(make())
    end
  end)

  it("shows the kernels that run for rolled arrays", function()
    local x, m, large = matrix(1, 1000):reshape(1000):eval(), matrix(64, 64), matrix(300, 300)
    local function roll(a, ...) return gpu.roll(a, ...) end
    local function stencil(a, count)
      local sum = 0
      for i = 1, count do sum = sum + roll(a, {i, 2 * i}, {1, 2}) end
      return sum
    end
    for _, make in ipairs {
      function() return roll(x, 3) end,
      function() return roll(x, 3) + x, roll(x, -1) end,
      function() return roll(x, 3):sum(), (roll(x, 3) * x):sum() end,
      function() return roll(roll(x, 3) * 2, 5) end,
      function() return roll(m, 1, 1) + m.T end,
      function() return roll(x, 3):take {1, 2, 3} end,
      function() return roll(m, 1, 2) + m:sum(2, {keepdims = true}), m / m:sum(2, {keepdims = true}) end,
      function() return m - m:mean(2, {keepdims = true}) + roll(m, 2, 2) end,
      function() return stencil(m, 4), stencil(m, 9), stencil(m, 9):max(1) end,
      function() return stencil(m, 60) end,
      function() return roll(large, 1, 1), roll(large, 1, 1) + 1, large * 2 end,
      function() return roll(large, 1, 2):sum(1), roll(large, {3, 5}, {1, 2}) end,
      function() return roll(large({1, 300}, {1, 300, 2}), 1, 1), roll(large, 2, 2):cumsum(1) end,
    } do
      eval(make())
    end
    assert(gpu.explain(roll(large, 1, 1)):find "^0 kernels, 1 copy\n\n// %-%-%-%- copy 1: rolled, in parts, %(300,300%), stores")
    assert(gpu.explain(roll(x, 1) + roll(x, -1)):find "^1 kernel\n")
  end)

  it("shows a read of a shift that a reduction computes with", function()
    local x = matrix(1, 1000):reshape(1000):eval()
    local text = gpu.explain((gpu.roll(x, 3) * x):sum())
    assert(text:find "^2 kernels" and text:find "elementwise over %(1000,%), stores" and text:find "reduction of %(1000,%), stores")
  end)

  it("shows what an earlier kernel has not stored, what is too much for one kernel, and the steps of a loop", function()
    local x = matrix(50, 50)
    local y = gpu.exp(x) * gpu.sin(x)
    eval(y + 1)
    eval(y + 2)
    local many, sums = {}, {}
    for i = 1, 70 do many[i] = gpu.sin(y * i) end
    for i = 1, 70 do sums[i] = (many[i] + many[71 - i]):sum() end
    eval(unpack(sums))
    -- Evaluating the values of a loop that is cut after each step first finishes the steps that are left.
    local kernels = 0
    for _, loop in pairs(samples.elementwise) do
      for _, steps in ipairs {20, 33} do
        local _, count = eval(loop(samples.arrays(100), steps)):gsub("\n// %-%-%-%- kernel", "")
        kernels = math.max(kernels, count)
      end
    end
    assert(kernels > 1)
  end)

  it("launches nothing and evaluates nothing", function()
    local x = matrix(30, 30)
    local y = (gpu.roll(x, 1, 1) * x):sum(2) + 1
    assert.are.equal(0, #gpu.profile(function() gpu.explain(y) end))
    assert.are.equal(gpu.explain(y), gpu.explain(y))
    assert.are.equal("nothing to compute: the array's elements are in memory\n", gpu.explain(y:eval()))
  end)

  it("has a developer's log beside it, of the plan after each pass", function()
    local output = support.run([[
      local gpu = require "gpu"
      local x = gpu.ones(4):eval()
      local y = (gpu.roll(x, 1) * x):sum():eval()]], "GPULUA_LOG_PLANS=1 GPULUA_DEVICE=" .. gpu.device().name)
    local passes = {}
    for pass in output:gmatch "%-%-%-%- (%l+)\n" do passes[#passes + 1] = pass end
    assert.are.equal("collect rolls group rows nested targets schedule emit", table.concat(passes, " ", #passes - 9, #passes - 2))
    assert(output:find("%3 = float32[] sum %2\n", 1, true), output)
  end)

  if gpu.device().kind == "cpu" then
    it("names the limits that a kernel's compilation kept to, as does the log", function()
      local program = [[
        local gpu = require "gpu"
        local k = gpu.kernel("__global__ void k(int* x, int n) {\n#pragma unroll\nfor (int i = 0; i < 17; ++i) {" ..
          "x[threadIdx.x] += x[(threadIdx.x + i) % n]; __syncthreads(); } }", "k")
        io.write(gpu.explain(k))]]
      local limits = "a loop with '#pragma unroll' stays a loop: unrolled, it would have more than 16 barriers"
      local output = support.run(program, "GPULUA_LOG_PLANS=1 GPULUA_DEVICE=" .. gpu.device().name)
      assert(output:find("engine simd\nlimits " .. limits .. "\n", 1, true), output)
      assert(output:find("the kernel 'k': " .. limits, 1, true), output)
      assert.is_nil(support.run(program:gsub("17", "16"), "GPULUA_LOG_PLANS=1 GPULUA_DEVICE=cpu"):find("limits", 1, true))
    end)
  end

  it("shows the kernels that random programs run", function()
    local device = dag.device
    dag.device = function()
      local module = device()
      module.eval = eval
      return module
    end
    local difference = dag.run(7, 400, 12, 3, function(lines)
      for i, line in ipairs(lines) do lines[i] = line:gsub("^out%((v%.%w+):", "gpu.eval(%1) %0") end
    end)
    dag.device = device
    assert(not difference, difference)
  end)
end)
