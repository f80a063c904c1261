-- gpu.erfinv, gpu.erfcinv and gpu.normcdfinv beside numbers of 50 digits by Newton's method, rounded to double.
local gpu = require "gpu"
local support = require "support"

-- y, and erfcinv of the double and of the float nearest to y.
local tails = {
  { 0.9, 0.08885599049425767, 0.08885601179103844 },
  { 0.75, 0.2253120550121781, 0.2253120550121781 },
  { 0.7499999, 0.22531214825000348, 0.22531216616032781 },
  { 0.50000001, 0.4769362650786217, 0.4769362762044699 },
  { 0.3, 0.7328690779592169, 0.7328690598827589 },
  { 0.250001, 0.8134181301002487, 0.8134181072937 },
  { 0.25, 0.8134198475976185, 0.8134198475976185 },
  { 0.1, 1.163087153676674, 1.1630871485684922 },
  { 0.01, 1.8213863677184496, 1.8213863731836466 },
  { 0.00052, 2.4538278641688827, 2.453827863651879 },
  { 0.00051, 2.4575131671397132, 2.4575131732838966 },
  { 1e-05, 3.123413274340875, 3.1234132782033535 },
  { 1e-07, 3.766562581570838, 3.7665625800692615 },
  { 1.2e-07, 3.743066775564143, 3.7430667801762216 },
  { 1e-12, 5.042029745639059, 5.042029746027936 },
  { 1e-20, 6.601580622355143, 6.601580624732017 },
  { 5.3e-22, 6.81811821251414, 6.818118209286799 },
  { 5.2e-22, 6.8195003919537305, 6.8195003928473445 },
  { 1e-30, 8.148616223169865, 8.14861622297672 },
  { 1.2e-38, 9.193433892711502, 9.193433893697986 },
  { 1e-45, 10.03657436063236, 10.019834265884624 },
  { 1e-100, 15.065574702592645, nil },
  { 1e-200, 21.37478304902626, nil },
  { 1e-308, 26.558309310079643, nil },
  { 5e-324, 27.21329321081295, nil },
}

-- x, and erfinv of the double and of the float nearest to x.
local inner = {
  { 1e-300, 8.86226925452758e-301, 0.0 },
  { 1e-08, 8.86226925452758e-09, 8.862269200667396e-09 },
  { 0.001, 0.0008862271574665521, 0.0008862271995601054 },
  { 0.1, 0.08885599049425769, 0.08885599182530649 },
  { 0.3, 0.2724627147267543, 0.2724627261055238 },
  { 0.5, 0.4769362762044699, 0.4769362762044699 },
  { 0.7, 0.7328690779592167, 0.7328690598827589 },
  { 0.7499999999, 0.8134198474258686, 0.8134198475976185 },
  { 0.75, 0.8134198475976185, 0.8134198475976185 },
  { 0.7500000001, 0.8134198477693685, 0.8134198475976185 },
  { 0.8, 0.9061938024368233, 0.9061938264523502 },
  { 0.9, 1.1630871536766743, 1.1630870719457722 },
  { 0.99, 1.8213863677184494, 1.8213866009002777 },
  { 0.9999, 2.75106390571208, 2.7510354379032873 },
  { 0.999999, 3.458910737275499, 3.45707472603595 },
  { 0.99999999999, 4.812924058944833, nil },
}

local on_cpu = gpu.device().name == "cpu"

--- `found` is so many units in the last place of its dtype from the expected numbers.
local function close(expected, found, name)
  local digits = found.dtype == "float64" and 52 or 23
  local limit = found.dtype == "float64" and (on_cpu and 3 or 8) or (on_cpu and 1 or 6)
  local list = found:table()
  for i, number in ipairs(expected) do
    local _, exponent = math.frexp(number)
    local ulp = 2 ^ (math.max(exponent - 1, found.dtype == "float64" and -1022 or -126) - digits)
    local away = math.abs(list[i] - number) / ulp
    assert(away <= limit, ("%s %d: expected %.17g, got %.17g, %g ulp"):format(name, i, number, list[i], away))
  end
end

local function column(list, i)
  local result = {}
  for _, row in ipairs(list) do
    if row[i] then result[#result + 1] = row[i] end
  end
  return result
end

describe("the inverses of the error function's family", function()
  for k, dtype in ipairs { "float64", "float32" } do
    it("are precise for " .. dtype, function()
      local function array(list, count) return gpu.array({ unpack(list, 1, count) }, dtype) end
      local values = column(tails, k + 1)
      local points = column(tails, 1)
      if dtype == "float32" then points = { unpack(points, 1, #values) } end
      close(values, gpu.erfcinv(array(points)), "erfcinv")
      close(column(inner, k + 1), gpu.erfinv(array(column(inner, 1), #column(inner, k + 1))), "erfinv")
      close(support.series(#column(inner, k + 1), function(i) return -column(inner, k + 1)[i] end),
        gpu.erfinv(-array(column(inner, 1), #column(inner, k + 1))), "erfinv")
      -- erfcinv(2 y) times the root of 2, for numbers whose double is exact.
      local halves, quantiles = {}, {}
      for i, y in ipairs(points) do
        if y > (dtype == "float64" and 1e-307 or 1e-37) then
          halves[#halves + 1], quantiles[#quantiles + 1] = y / 2, -values[i] * 2 ^ 0.5
        end
      end
      close(quantiles, gpu.normcdfinv(array(halves)), "normcdfinv")
    end)

    it("have edges for " .. dtype, function()
      local function texts(name, list) return support.series(#list, function(i) return tostring(gpu[name](gpu.array(list, dtype))[i]) end) end
      local inf, nan = 1 / 0, "nan"
      local function expect(expected, got)
        for i, text in ipairs(expected) do assert.are.equal(text, (got[i]:gsub("^%-nan", "nan"))) end
      end
      expect({ "0", "-0", "inf", "-inf", nan, nan, nan, nan, nan }, texts("erfinv", { 0, -0.0, 1, -1, 1.5, -1.5, inf, -inf, 0 / 0 }))
      expect({ "inf", "inf", "0", "-inf", nan, nan, nan, nan, nan }, texts("erfcinv", { 0, -0.0, 1, 2, 2.5, -0.5, inf, -inf, 0 / 0 }))
      expect({ "-inf", "-inf", "inf", nan, nan, nan, nan, nan }, texts("normcdfinv", { 0, -0.0, 1, 1.5, -0.5, inf, -inf, 0 / 0 }))
      assert.are.equal(0, gpu.normcdfinv(gpu.array({ 0.5 }, dtype))[1])
      assert.are.equal(0, gpu.erfinv(gpu.zeros(0, dtype)).size)
    end)
  end

  it("invert the functions, and ascend", function()
    local p = gpu.linspace(0, 1, 100003, "float64")({ 2, 100002 }):eval()
    assert(gpu.abs(gpu.normcdf(gpu.normcdfinv(p)) / p - 1):max():item() < 1e-14)
    assert(gpu.abs(gpu.erf(gpu.erfinv(p)) / p - 1):max():item() < 1e-14)
    assert(gpu.abs(gpu.erfc(gpu.erfcinv(p)) / p - 1):max():item() < 1e-14)
    for _, name in ipairs { "erfinv", "normcdfinv" } do
      for _, dtype in ipairs { "float64", "float32" } do assert.is_true(gpu[name](p:astype(dtype)):diff():ge(0):all():item()) end
    end
    -- A GPU's compiler may contract one side's products and sums otherwise.
    assert(gpu.abs(gpu.erfinv(p) + gpu.erfinv(-p)):max():item() < 1e-15)
  end)
end)
