-- Each reduction of each dtype, with the options where and initial. Golden data: tests/golden/arrays/reductions.py.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails

local folder = debug.getinfo(1, "S").source:match "^@(.*)/lua/[^/]*$"
local golden = assert(gpu.load(folder .. "/golden/arrays/reductions.npz"))

local names = { "sum", "prod", "max", "min", "any", "all", "mean", "var", "std", "count_nonzero", "argmax", "argmin" }
local dtypes = { "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
  "bfloat16", "complex64", "complex128" }
-- The layouts and axes of the golden data, in its order. The axes of one entry are reduced in one kernel.
local cases = {
  { "contiguous", {}, { 1 }, { -1 }, { 1, 3 } },
  { "transposed", { 1 }, { 1, 3 } },
  { "strided", {}, { 3 } },
}
local views = {
  contiguous = function(x) return x end,
  transposed = function(x) return x:permute(3, 1, 2) end,
  strided = function(x) return x(":", "::-1", "1:4:2") end,
}
local tolerances = { float16 = 4e-3, bfloat16 = 2e-2, float32 = 4e-6, float64 = 1e-13 }
local has_initial = { sum = true, prod = true, max = true, min = true }

--- The parts of complex numbers, and other numbers, as Lua's.
local function numbers(array)
  local all = {}
  if array.dtype:find "float16$" then array = array:astype "float32" end
  local host = array:ravel():host()
  for i = 0, array.size - 1 do
    local value = host[i]
    if array.dtype:find "^complex" then
      all[#all + 1], all[#all + 2] = value.re, value.im
    else
      all[#all + 1] = type(value) == "boolean" and (value and 1 or 0) or tonumber(value)
    end
  end
  return all
end

local function axis_text(axes) return #axes == 0 and "all axes" or "axes " .. table.concat(axes, ", ") end

--- The shape after the reduction of `shape`; with `keepdims`, reduced axes stay with size 1.
local function reduced_shape(shape, axes, keepdims)
  local gone, left = {}, {}
  for _, axis in ipairs(axes) do gone[axis > 0 and axis or #shape + 1 + axis] = true end
  for axis, extent in ipairs(shape) do
    if gone[axis] or #axes == 0 then extent = keepdims and 1 or nil end
    left[#left + 1] = extent
  end
  return left
end

describe("reductions of each dtype", function()
  for _, dtype in ipairs(dtypes) do
    it("are as NumPy's: " .. dtype, function()
      local input = golden["x_" .. dtype]:astype(dtype):eval()
      local expected, at = {}, {}
      for _, name in ipairs(names) do
        local array = rawget(golden, name .. "_" .. dtype)
        if array then expected[name], at[name] = array, 0 end
      end
      for _, case in ipairs(cases) do
        local x, mask = views[case[1]](input), rawget(golden, "where_" .. case[1])
        for i = 2, #case do
          local axes, results = case[i], {}
          local axis = #axes == 1 and axes[1] or #axes > 1 and axes or nil
          for _, name in ipairs(names) do
            if expected[name] then
              results[#results + 1] = { name, x[name](x, { axis = axis }) }
              if not name:find "^arg" then
                local options = { axis = axis, where = mask, initial = has_initial[name] and (dtype == "bool" or 1) or nil, keepdims = true }
                results[#results + 1] = { name, x[name](x, options), true }
              end
            end
          end
          local arrays = {}
          for k, result in ipairs(results) do arrays[k] = result[2] end
          gpu.eval(unpack(arrays))
          for _, result in ipairs(results) do
            local name, got, keepdims = unpack(result)
            local what = ("%s of %s %s, %s%s"):format(name, dtype, case[1], axis_text(axes), keepdims and ", where" or "")
            assert.are.same(reduced_shape(x.shape, axes, keepdims), got.shape, what)
            local reference = expected[name]
            local wanted_dtype = (dtype == "float16" or dtype == "bfloat16") and reference.dtype == "float32" and dtype or reference.dtype
            assert.are.equal(wanted_dtype, got.dtype, what)
            local count = got.size
            local wanted = numbers(reference({ at[name] + 1, at[name] + count }))
            at[name] = at[name] + count
            local tolerance = tolerances[wanted_dtype] or wanted_dtype == "complex64" and 4e-6 or wanted_dtype == "complex128" and 1e-13 or 0
            for k, mine in ipairs(numbers(got)) do
              local theirs = wanted[k]
              local same = mine == theirs or (mine ~= mine and theirs ~= theirs)
                or math.abs(mine - theirs) <= tolerance * math.max(1, math.abs(theirs))
              if not same then error(("%s: number %d: expected %.9g, got %.9g"):format(what, k, theirs, mine)) end
            end
          end
        end
      end
      for name, count in pairs(at) do assert.are.equal(expected[name].size, count, name) end
    end)
  end
end)

describe("the options where and initial", function()
  local x = gpu.array { { 1, 2, 3 }, { 4, 5, 6 } }
  local mask = gpu.array { true, false, true }

  it("are part of the reduction's kernel", function()
    local function kernels(y) return tonumber(gpu.explain(y):match "^(%d+) kernel") end
    for _, name in ipairs { "sum", "any", "mean", "count_nonzero" } do
      assert.are.equal(1, kernels((x * 2)[name](x * 2, 1, { where = x:gt(1) })), name)
    end
    assert.are.equal(1, kernels(x:max { where = x:gt(1), initial = 0 }))
    assert.are.equal(1, kernels((x:astype "complex64"):var(1)))
  end)

  it("give a value for no elements", function()
    assert.are.same({ -5, -5, -5 }, gpu.zeros(0, 3):max(1, { initial = -5 }):table())
    assert.are.equal(7, gpu.zeros(0, "int32"):min({ initial = 7 }):item())
    assert.are.equal(2, gpu.zeros(0):prod({ initial = 2 }):item())
    assert.is_true(x:all({ where = gpu.zeros(3, "bool") }):item())
    assert.is_true(x:mean({ where = gpu.zeros(3, "bool") }):isnan():item())
  end)

  it("go with dtype and out", function()
    local out = gpu.zeros(2, "float64")
    x:sum(2, { where = mask, initial = 0.5, dtype = "float64", out = out })
    assert.are.same({ 4.5, 10.5 }, out:table())
    assert.are.equal("float32", gpu.ones(3, "int8"):max({ dtype = "float32", initial = 2.5 }).dtype)
    assert.are.equal(2.5, gpu.ones(3, "int8"):max({ dtype = "float32", initial = 2.5 }):item())
  end)

  it("are refused where they do not fit", function()
    fails("[max] expected the option initial beside where: there is no max of no elements", function() x:max { where = mask } end)
    fails("[sum] expected where = an array of bool, got an array float32[3]", function() x:sum { where = gpu.ones(3) } end)
    fails("[any] expected where = an array of bool, got true", function() x:any { where = true } end)
    fails("[sum] where: operands could not be broadcast together with shapes (2,3) (2,)",
      function() x:sum { where = gpu.ones(2, "bool") } end)
    fails("[mean] expected where = an array that broadcasts to (2,3), got an array bool[2x2x3]",
      function() x:mean { where = gpu.ones(2, 2, 3, "bool") } end)
    fails('[argmax] expected the options axis, keepdims, dtype and out, got "where"', function() x:argmax { where = mask } end)
    fails('[mean] expected the options axis, keepdims, dtype, out and where, got "initial"', function() x:mean { initial = 1 } end)
    fails('[sum] expected a number for initial, got "a"', function() x:sum { initial = "a" } end)
    fails("[max] initial: [convert] 200 does not fit int8: it is out of range",
      function() gpu.ones(3, "int8"):max { initial = 200 } end)
  end)
end)
