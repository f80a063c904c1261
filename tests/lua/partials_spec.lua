-- The first and second partial derivatives of the elementwise operations against mpmath's (tests/golden/arrays/partials.py), with poles,
-- ties, zeros and infinities among the points.
local gpu = require "gpu"

local folder = debug.getinfo(1, "S").source:match "^@(.*)/lua/[^/]*$"
local golden = assert(gpu.load(folder .. "/golden/arrays/partials.npz"))

local names, has = {}, {}
for name in pairs(golden) do
  has[name] = true
  if not name:find(".", 1, true) then names[#names + 1] = name end
end
table.sort(names)

--- The operands of a row in this dtype, and which of them have derivatives.
local function operands(name, dtype)
  local points, columns, known = golden[name], {}, {}
  if points.ndim == 1 then points = points:reshape(points.size, 1) end
  for place = 1, points.shape[2] do
    columns[place] = points:transpose()[place]:astype(dtype):eval()
    if has[name .. "." .. place] then known[#known + 1] = place end
  end
  if name == "ldexp" then columns[2] = columns[2]:astype "int64" end
  return columns, known
end

--- The sum of a row's results as a function of its operands.
local function summed(name)
  return function(...) return gpu[name](...):sum() end
end

--- Compares derivatives with the golden ones. Those of float32 may be as many units in the last place away, and twice as many for its
--- functions, where float32 has the arguments and the result.
local function check(found, name, label)
  local wanted, bound = golden[label], golden[label .. ".bound"]
  local compared = bound:ge(0)
  if found.dtype == "float32" then
    local size, points = gpu.abs(wanted), golden[name]
    local held = points:eq(points:astype "float32"):logical_or(points:isnan())
    compared = compared:logical_and(size:lt(1e30)):logical_and(size:gt(1e-30)):logical_and(points.ndim == 1 and held or held:all(2))
    bound = bound * 2 ^ 30
  end
  found = found:astype "float64"
  local same = found:eq(wanted):logical_or(found:isnan():logical_and(wanted:isnan()))
  local near = gpu.abs(found - wanted):le(bound)
  for i, is_right in ipairs(same:logical_or(near):logical_or(compared:logical_not()):table()) do
    if not is_right then
      local point = golden[name][i]
      error(("%s at %s: expected %.17g within %.3g, got %.17g"):format(label, tostring(point), wanted[i], bound[i], found[i]), 0)
    end
  end
end

describe("partial derivatives of the elementwise operations", function()
  it("have points for each formula of the table of operations", function()
    local file = assert(io.open(folder .. "/../src/ops/op_table.cpp"))
    local text = file:read "*a"
    file:close()
    local count = 0
    for row in text:gmatch "%.name = .-}}?,\n" do
      local name, partials = row:match '"([%w_]+)"', row:match "%.partials = {(.*)}}"
      local formula = partials and partials:gsub('"0"', ""):gsub('"none"', ""):find "%a"
      if formula and not row:find("hidden", 1, true) and name ~= "where" then
        count = count + 1
        assert(has[name], name .. " has no golden points")
      end
    end
    assert(count > 60, tostring(count))
  end)

  --- Checks the derivatives of rows up to this order.
  local function check_rows(rows, dtype, highest)
    for _, name in ipairs(rows) do
      local columns, known = operands(name, dtype)
      local found, arrays = {}, {}
      local function note(label, array)
        found[label] = array
        arrays[#arrays + 1] = array
      end
      for _, first in ipairs(known) do
        local slope = gpu.grad(summed(name), first)
        note(name .. "." .. first, slope(unpack(columns)))
        for _, second in ipairs(highest == 2 and known or {}) do
          local label = name .. "." .. first .. second
          if has[label] then
            -- A slope that is constant depends on its operand like this.
            local function total(...) return (slope(...) + 0 * select(second, ...)):sum() end
            note(label, gpu.grad(total, second)(unpack(columns)))
          end
        end
      end
      gpu.eval(unpack(arrays))
      for label, array in pairs(found) do check(array, name, label) end
    end
  end

  it("are exact to the condition of their formulas in float64", function()
    check_rows(names, "float64", 2)
  end)

  it("are exact to the condition of their formulas in float32", function()
    check_rows({
      "asin", "boxcox", "divide", "exprel", "gammainc", "hypot", "kl_div", "log", "log_normcdf", "logaddexp", "normcdf", "power", "sigmoid",
      "sinc", "sqrt", "tanh", "xlogy",
    }, "float32", 1)
  end)
end)
