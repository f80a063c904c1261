-- Scans: cumsum, cumprod, cummax, cummin. Golden data: tests/golden/arrays/scans.py.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails

local folder = debug.getinfo(1, "S").source:match "^@(.*)/lua/[^/]*$"
local golden = assert(gpu.load(folder .. "/golden/arrays/scans.npz"))

local tolerances = { float16 = 4e-3, float32 = 2e-6, float64 = 1e-14, complex64 = 4e-6, complex128 = 1e-14 }

--- Every element, row by row: exactly, or within the tolerance of the greatest expected one.
local function same(expected, got, tolerance, what)
  assert.are.same(expected.shape, got.shape, what)
  assert.are.equal(expected.dtype, got.dtype, what)
  local a, b = expected:contiguous():host(), got:contiguous():host()
  if expected.dtype == "float16" then
    a, b = expected:astype "float32":host(), got:astype "float32":host()
  end
  local function close(x, y)
    if x == y or (x ~= x and y ~= y) then return x ~= 0 or not tolerance or 1 / tonumber(x) == 1 / tonumber(y) end
    return tolerance and math.abs(x - y) <= tolerance * math.max(1, math.abs(x))
  end
  for i = 0, expected.size - 1 do
    local x, y = a[i], b[i]
    local ok
    if expected.dtype:find "complex" then
      local limit = tolerance * math.max(1, math.abs(x.re), math.abs(x.im))
      ok = math.abs(x.re - y.re) <= limit and math.abs(x.im - y.im) <= limit
    else
      ok = close(x, y)
    end
    if not ok then error(("%s: element %d: expected %s, got %s"):format(what, i + 1, tostring(x), tostring(y)), 2) end
  end
end

local function axis_of(number) return number > 0 and number or nil end

describe("scans", function()
  it("agree with NumPy for each dtype along each axis", function()
    local count = 0
    for name, expected in pairs(golden) do
      local op, dtype, axis = name:match "^(cum%l+)_(%w+)_(%d)$"
      if op then
        local x = golden["x_" .. dtype]
        same(expected, gpu[op](x, { axis = axis_of(tonumber(axis)) }), tolerances[dtype], name)
        count = count + 1
      end
    end
    assert.is_true(count > 110)
  end)

  it("agree with NumPy on NaN, infinities and -0", function()
    for name, expected in pairs(golden) do
      local op, dtype, axis = name:match "^special_(cum%l+)_(%w+)_(%d)$"
      if op then same(expected, gpu[op](golden["special_" .. dtype], tonumber(axis)), 0, name) end
    end
  end)

  it("of views give what they give of copies", function()
    local x = golden.x_int32
    for _, view in ipairs { x("::-1", ":", "2:5"), x.T, x(2), x(":", "::2", "::-3"), x(2, 3) } do
      same(view:copy():cumsum(), view:cumsum(), nil, "flattened")
      for axis = 1, view.ndim do same(view:copy():cumsum(axis), view:cumsum(axis), nil, "axis " .. axis) end
    end
    same((x + 1):eval():cumsum(2), (x + 1):cumsum(2), nil, "pending")
  end)

  it("are right at the borders of tiles, for one row and for several", function()
    for _, dtype in ipairs { "int32", "float64", "uint8" } do
      for _, n in ipairs { 1, 2, 31, 32, 33, 511, 512, 513, 1023, 1024, 1025, 4095, 4097, 8193, 100003, 2 ^ 20 + 3 } do
        for _, rows in ipairs(n < 10000 and { 1, 3, 40 } or { 1, 2 }) do
          local x = (gpu.arange(n * rows, "int32") * 37 % 101):astype(dtype):reshape(rows, n)
          local got, input = x:cumsum(2):host(), x:host()
          for row = 0, rows - 1 do
            local sum = 0
            for i = 0, n - 1 do
              sum = sum + input[row * n + i]
              if got[row * n + i] ~= sum then error(("%s, %d of %d rows, element %d"):format(dtype, row, rows, i)) end
            end
          end
        end
      end
    end
  end)

  it("go down columns of any number and length", function()
    for _, shape in ipairs { { 3, 2000 }, { 2000, 3 }, { 70, 33 }, { 300, 20000 } } do
      local x = gpu.arange(shape[1] * shape[2], "int64") % 97
      local got, input = x:reshape(shape):cumsum(1):contiguous():host(), x:host()
      for column = 0, shape[2] - 1, 7 do
        local sum = 0
        for row = 0, shape[1] - 1 do
          sum = sum + input[row * shape[2] + column]
          assert.are.equal(tonumber(sum), tonumber(got[row * shape[2] + column]))
        end
      end
    end
  end)

  it("can leave each element out of its own", function()
    local x = gpu.array({ 3, 1, 2 }, "int32")
    assert.are.same({ 0, 3, 4 }, x:cumsum({ exclusive = true }):table())
    assert.are.same({ 1, 3, 3 }, x:cumprod({ exclusive = true }):table())
    assert.are.same({ -2147483648, 3, 3 }, x:cummax({ exclusive = true }):table())
    assert.are.same({ math.huge, 3, 1 }, x:astype "float32":cummin({ exclusive = true }):table())
    assert.are.equal(math.huge, 1 / gpu.zeros(1):cumsum({ exclusive = true })[1])
    local n = 2 ^ 18 + 5
    local y = gpu.ones(2 * n, "int32"):reshape(2, n):cumsum(2, { exclusive = true })
    assert.is_true(((y - gpu.arange(n, "int64")):ne(0)):sum():item() == 0)
  end)

  it("take a dtype and an array to write to", function()
    local x = gpu.array({ 100, 100 }, "int8")
    assert.are.equal("int64", x:cumsum().dtype)
    assert.are.same({ 100, -56 }, x:cumsum({ dtype = "int8" }):table())
    local out = gpu.zeros(2, "float64")
    assert.are.same({ 100, 200 }, x:cumsum(1, { out = out }):table())
    assert.are.same({ 100, 200 }, out:table())
    local y = gpu.arange(5)
    y:cumsum({ out = y })
    assert.are.same({ 0, 1, 3, 6, 10 }, y:table())
    assert.are.equal("bfloat16", gpu.ones(3, "bfloat16"):cumsum().dtype)
  end)

  it("of nothing are empty", function()
    assert.are.same({ 0 }, gpu.zeros(0):cumsum().shape)
    assert.are.same({ 3, 0 }, gpu.zeros(3, 0):cumsum(1).shape)
    assert.are.same({ 0, 3 }, gpu.zeros(0, 3):cummax(1).shape)
    assert.are.same({ 7 }, gpu.array(7):cumsum():table())
  end)

  it("give the same bits each time", function()
    local x = (gpu.arange(2 ^ 20 + 3) * 0.7 + 0.1):sqrt():eval()
    local first = x:cumsum()
    for _ = 1, 5 do assert.are.equal(0, x:cumsum():ne(first):sum():item()) end
  end)

  it("name what does not fit", function()
    local x = gpu.ones(2, 3)
    fails("[cumsum] axis 3 is out of range for an array of 2 dimensions", function() return x:cumsum(3) end)
    fails("[cumprod] axes start at 1, got 0", function() return x:cumprod(0) end)
    fails("[cummax] expected real numbers, got complex64", function() return gpu.ones(2, "complex64"):cummax() end)
    fails("[cumsum] expected exclusive = true or false", function() return x:cumsum({ exclusive = 1 }) end)
    fails("result's shape (6,), got (2,3)", function() return x:cumsum({ out = gpu.zeros(2, 3) }) end)
  end)
end)
