-- gpu.optimize with each = true: many problems of numbers, beside closed forms and the searches on the host.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails
local optimize = gpu.optimize

local function close(expected, got, rtol, atol)
  assert(gpu.allclose(got, expected, {rtol = rtol or 1e-11, atol = atol or 1e-14}), tostring(got))
end

local c = gpu.linspace(0.5, 8, 31, "float64"):eval()
local function cubic(x, c) return x ^ 3 - c end
local ways = {{bracket = {0, 3}}, {bracket = {0, 3}, method = "brentq"}, {bracket = {0, 3}, x0 = 1.5}, {x0 = 1}}

local function each(options, args)
  local all = {each = true, args = args}
  for name, value in pairs(options) do all[name] = value end
  return all
end

describe("gpu.optimize.root_scalar with each = true", function()
  it("finds the roots of all problems", function()
    for _, way in ipairs(ways) do
      local x, info = optimize.root_scalar(cubic, each(way, {c}))
      close(gpu.cbrt(c), x)
      assert(info.converged:all():item() and info.iterations:max():item() <= 14 and info.reason:max():item() == 0)
      assert(info.iterations.dtype == "int32" and info.reason.dtype == "int8" and info.converged.dtype == "bool")
      -- Increasing or decreasing, a root is a root.
      close(gpu.cbrt(c), (optimize.root_scalar(function(x, c) return c - x ^ 3 end, each(way, {c}))))
    end
  end)

  it("broadcasts the ends, the start and the arguments", function()
    local x = optimize.root_scalar(function(x, p, q) return x * p - q end,
      {each = true, bracket = {gpu.array({{-10}, {-20}}, "float64"), 50}, x0 = gpu.array({1, 2, 3}, "float64"), args = {2, gpu.array({4, 6, 8}, "float64")}})
    assert.are.same({{2, 3, 4}, {2, 3, 4}}, x:table())
    local alone, info = optimize.root_scalar(function(x) return math.cos(x) - x end, {each = true, bracket = {0, 1}})
    assert(math.abs(alone:item() - 0.73908513321516064166) < 1e-12 and info.converged:item())
    local single = optimize.root_scalar(cubic, {each = true, bracket = {0, 3}, args = {c:astype("float32")}})
    assert.are.equal("float32", single.dtype)
    close(gpu.cbrt(c), single, 1e-6)
  end)

  it("is the search on the host, number by number", function()
    local found, info = optimize.root_scalar(cubic, each(ways[2], {c}))
    for i = 1, 31, 5 do
      local x, report = optimize.root_scalar(function(x) return cubic(x, c[i]) end, ways[2])
      assert(math.abs(x - found[i]) < 4e-12 and math.abs(report.iterations - info.iterations[i]) <= 1)
    end
  end)

  it("says why a problem has no result, and goes on with the others", function()
    local nan = 0 / 0
    local kind = gpu.arange(6, {dtype = "int32"})
    local function f(x, kind)
      if kind == 0 then return x * x + 1 end -- no change of the sign
      if kind == 1 then return x > 0.9 and 0 / 0 or x - 0.95 end -- NaN at an end
      if kind == 2 then return x > -0.5 and x < 0.9 and 0 / 0 or x - 0.7 end -- NaN within
      if kind == 3 then return x - 1 end -- a root at an end
      if kind == 4 then return x < 0.3 and -1 or 1 end -- a jump
      return x - 0.25
    end
    for _, method in ipairs {"newton", "brentq"} do
      local x, info = optimize.root_scalar(f, {each = true, bracket = {-1, 1}, method = method, args = {kind}})
      assert.are.same({3, 2, 2, 0, 0, 0}, info.reason:table())
      assert.are.same({false, false, false, true, true, true}, info.converged:table())
      x = x:table()
      assert(x[1] ~= x[1] and x[2] ~= x[2] and x[4] == 1 and math.abs(x[5] - 0.3) < 1e-11 and math.abs(x[6] - 0.25) < 1e-12)
    end
    local function reason(f, options)
      options.each = true
      local x, info = optimize.root_scalar(f, options)
      assert.are.equal(info.converged:item(), x:item() == x:item()) -- what is no root is no number
      return info.reason:item()
    end
    assert.are.equal(4, reason(function(x) return x * x + 1 end, {x0 = 0}))
    assert.are.equal(2, reason(function(x) return math.log(x) end, {x0 = 3}))
    assert.are.equal(2, reason(function(x) return x - 1 end, {x0 = nan}))
    assert.are.equal(2, reason(function(x) return x - 1 end, {bracket = {-math.huge, nan}}))
    assert.are.equal(1, reason(function(x) return x * x + 1 end, {x0 = 0.3}))
    assert.are.equal(1, reason(function(x) return x - 0.3 end, {bracket = {-1, 5}, maxiter = 1, method = "brentq", xtol = 0}))
    assert.are.equal(0, reason(function(x) return (x - 0.3) ^ 9 end, {bracket = {-1, 4}}))
    assert.are.equal(0, reason(function(x) return x - 1 / 3 end, {bracket = {-1, 4}, xtol = 0, rtol = 0}))
  end)

  it("has the derivatives of the roots", function()
    for _, way in ipairs(ways) do
      local function solve(c) return (optimize.root_scalar(cubic, each(way, {c}))) end
      local x, dx = gpu.value_and_grad(solve, {each = true})(c)
      close(gpu.cbrt(c), x)
      close(c ^ (-2 / 3) / 3, dx)
      close(c ^ (-5 / 3) * -2 / 9, gpu.grad(function(c) return (gpu.grad(solve, {each = true})(c)) end, {each = true})(c), 1e-10)
    end
    -- By several parameters, and where the bracket depends on one.
    local p, q = gpu.array({1, 2, 3}, "float64"), gpu.array({2, 5, 7}, "float64")
    local gp, gq = gpu.grad(function(p, q)
      return (optimize.root_scalar(function(x, p, q) return p * x - q end, {each = true, bracket = {-p, 10 * p}, args = {p, q}}))
    end, {1, 2}, {each = true})(p, q)
    close(-q / p ^ 2, gp)
    close(1 / p, gq)
  end)

  it("refuses what it does not understand", function()
    local function refused(message, f, options) fails(message, optimize.root_scalar, f, each(options, options.args)) end
    local function line(x) return x end
    refused("got x1", line, {x0 = 1, x1 = 2})
    refused("got derivative", line, {x0 = 1, derivative = line})
    refused("got neither", line, {})
    refused('expected method = "newton", "brentq"', line, {x0 = 1, method = "secant"})
    refused("expected bracket = {a, b} alone", line, {x0 = 1, method = "brentq"})
    refused("expected a function with 2 parameters", line, {x0 = 1, args = {2}})
    refused("x0 = a number or an array", line, {x0 = "1"})
    refused("a Lua function of numbers, for the device", 3, {x0 = 1})
    refused("args[1]", cubic, {x0 = 1, args = {"2"}})
    refused("optimize_each_spec.lua:", function(x) return x .. "a" end, {x0 = 1})
    refused("gpu.detach(x)", function(x) return gpu.gammainc(x, 1) end, {x0 = 1})
    fails("expected args with each = true", optimize.root_scalar, cubic, {x0 = 1, args = {2}})
    -- Without derivatives, Brent's method does.
    local x = optimize.root_scalar(function(x) return gpu.gammainc(x, 1) - 0.5 end, {each = true, bracket = {0.1, 5}, method = "brentq"})
    assert(math.abs(gpu.gammainc(x, 1):item() - 0.5) < 1e-11)
  end)
end)

describe("gpu.optimize.minimize_scalar with each = true", function()
  local function bowl(x, c) return (x - c) ^ 4 + (x - c) ^ 2 + 3 end

  it("finds the least values", function()
    local x, info = optimize.minimize_scalar(bowl, {each = true, bounds = {-1, 9}, args = {c}})
    close(c, x, 1e-7, 1e-7)
    close(gpu.full(31, 3.0, "float64"), info.value)
    assert(info.converged:all():item() and info.iterations:max():item() < 40)
    for i = 1, 31, 6 do
      local own, report = optimize.minimize_scalar(function(x) return bowl(x, c[i]) end, {bounds = {-1, 9}})
      assert(math.abs(own - x[i]) < 1e-7 and math.abs(report.iterations - info.iterations[i]) <= 1)
    end
    local at_end = optimize.minimize_scalar(function(x, s) return s * x end, {each = true, bounds = {2, 5}, args = {gpu.array({1, -1}, "float64")}})
    close(gpu.array({2, 5}, "float64"), at_end, 1e-6)
  end)

  it("ends with a reason", function()
    local function reason(f, options)
      options.each = true
      return select(2, optimize.minimize_scalar(f, options)).reason:item()
    end
    assert.are.equal(2, reason(function(x) return x < 1 and 0 / 0 or x end, {bounds = {0, 2}}))
    assert.are.equal(2, reason(function(x) return x end, {bounds = {0, math.huge}}))
    assert.are.equal(1, reason(function(x) return x * x end, {bounds = {-1, 5}, maxiter = 2}))
    assert.are.equal(0, reason(function(x) return 1 + 0 * x end, {bounds = {-1, 5}}))
    fails('got "bracket"', optimize.minimize_scalar, bowl, {each = true, bounds = {0, 1}, bracket = {0, 1}, args = {2}})
    fails("bounds = {a, b}", optimize.minimize_scalar, bowl, {each = true, args = {2}})
  end)

  it("has the derivatives of the least points and values", function()
    local function solve(c)
      local x, info = optimize.minimize_scalar(function(x, c) return (x - c ^ 2) ^ 2 + (x - c ^ 2) ^ 4 + c end, {each = true, bounds = {-1, 90}, args = {c}})
      return x, info.value
    end
    local x, dx = gpu.value_and_grad(solve, {each = true})(c)
    close(c ^ 2, x)
    close(2 * c, dx)
    close(gpu.ones_like(c), gpu.grad(function(c) return select(2, solve(c)) end, {each = true})(c))
    local at_end = gpu.grad(function(c)
      return (optimize.minimize_scalar(function(x, c) return c * x end, {each = true, bounds = {1, 2}, args = {c}}))
    end, {each = true})(c)
    close(gpu.zeros_like(c), at_end)
  end)
end)

describe("gpu.optimize.least_squares with each = true", function()
  local t = gpu.linspace(0, 2, 40, "float64"):eval()
  local function decay(a, k, c, t, y) return a * math.exp(-k * t) + c - y end
  local amplitude, rate = gpu.array({1, 1.5, 2, 3}, "float64"), gpu.array({2, 1, 0.6, 0.5}, "float64")
  local y = (amplitude:reshape(4, 1) * gpu.exp(-rate:reshape(4, 1) * t) + 0.25):eval()

  it("fits a curve to each row", function()
    local x, info = optimize.least_squares(decay, {1, gpu.ones(4, "float64"), 0}, {each = true, args = {t, y}})
    assert.are.equal(3, #x)
    close(amplitude, x[1], 1e-7)
    close(rate, x[2], 1e-7)
    close(gpu.full(4, 0.25, "float64"), x[3], 1e-7)
    assert(info.converged:all():item() and info.iterations:max():item() < 30 and info.value:max():item() < 1e-15)
    local single = optimize.least_squares(decay, {1, 1, 0}, {each = true, args = {t:astype("float32"), y:astype("float32")}})
    assert.are.equal("float32", single[1].dtype)
    close(amplitude, single[1], 2e-3)
  end)

  it("finds what the search on the host finds, where residuals remain", function()
    local noisy = (y + 0.1 * gpu.sin(37 * t)):eval()
    local x, info = optimize.least_squares(decay, {1, 1, 0}, {each = true, args = {t, noisy}, xtol = 1e-12, ftol = 1e-14, gtol = 1e-10})
    for i = 1, 4 do
      local own, report = optimize.least_squares(function(p) return p(1) * gpu.exp(-p(2) * t) + p(3) - noisy(i) end, {1, 1, 0},
        {xtol = 1e-12, ftol = 1e-14, gtol = 1e-10})
      for j = 1, 3 do assert(math.abs(own[j] - x[j][i]) < 1e-6, ("%d, %d: %.9g %.9g"):format(i, j, own[j], x[j][i])) end
      assert(math.abs(report.value - info.value[i]) < 1e-12 and info.converged[i])
    end
  end)

  it("solves linear problems of up to 8 parameters, in shapes that broadcast", function()
    local powers = {}
    for k = 0, 7 do powers[k + 1] = gpu.cos(k * t) end
    local wanted = gpu.random.normal({8, 3, 2}, 0, 1, "float64"):eval()
    local data = 0
    for k = 1, 8 do data = data + wanted(k):expand_dims(-1) * powers[k] end
    local function f(a, b, c, d, e, g, h, l, t, y)
      return a + b * math.cos(t) + c * math.cos(2 * t) + d * math.cos(3 * t) + e * math.cos(4 * t) + g * math.cos(5 * t) + h * math.cos(6 * t)
        + l * math.cos(7 * t) - y
    end
    -- A matrix of problems from one row of starts, one number for all, and weights by problem alone.
    local x, info = optimize.least_squares(f, {0, 0, 0, 0, gpu.zeros(2, "float64"), 0, 0, 0}, {each = true, args = {t, data}, xtol = 1e-14, gtol = 1e-13})
    assert(info.converged:all():item())
    assert.are.same({3, 2}, {x[1].shape[1], x[1].shape[2]})
    for k = 1, 8 do close(wanted(k), x[k], 1e-3, 1e-3) end
    local means = optimize.least_squares(function(mean, w, y, s) return s * w * (mean - y) end, {0},
      {each = true, args = {gpu.array({{2}, {3}}, "float64"), gpu.array({1, 2, 6}, "float64"), 0.5}})
    close(gpu.array({3, 3}, "float64"), means[1], 1e-8)
  end)

  it("says why a problem has no result, and goes on with the others", function()
    local bad = y:copy()
    bad[2][7] = 0 / 0
    local x, info = optimize.least_squares(decay, {1, 1, 0}, {each = true, args = {t, bad}})
    assert.are.same({0, 2, 0, 0}, info.reason:table())
    assert(math.abs(x[1][3] - 2) < 1e-7)
    local function reason(f, x0, options)
      options.each = true
      local _, info = optimize.least_squares(f, x0, options)
      return info.reason:item()
    end
    local ones = gpu.ones(5, "float64")
    assert.are.equal(1, reason(function(a, y) return math.exp(a) - y end, {8}, {args = {ones}, maxiter = 2}))
    assert.are.equal(1, reason(function(a, y) return math.exp(a) - y end, {8}, {args = {ones}, maxiter = 0}))
    assert.are.equal(0, reason(function(a, b, y) return a - y end, {8, 3}, {args = {ones}})) -- b has no influence
    assert.are.equal(0, reason(function(a, y) return y end, {8}, {args = {ones}}))
    assert.are.equal(0, reason(function(a, y) return a - y end, {1}, {args = {ones}}))
    assert.are.equal(2, reason(function(a, y) return math.sqrt(a) - y end, {-1}, {args = {ones}}))
    assert.are.equal(2, reason(function(a, y) return a - y end, {0 / 0}, {args = {ones}}))
    assert(reason(function(a, y) return a < 1 and 0 / 0 or (a - 1) * y end, {5}, {args = {ones}}) ~= 1) -- the least point is an edge
  end)

  it("refuses what it does not understand", function()
    local function refused(message, f, x0, options)
      options.each = true
      fails(message, optimize.least_squares, f, x0, options)
    end
    local function line(a, y) return a - y end
    refused("got bounds", line, {1}, {args = {t}, bounds = {0, 1}})
    refused("args with an array", line, {1}, {args = {2}})
    refused("args with an array", function(a) return a end, {1}, {})
    refused("a list of 1 to 8 starts", line, t, {args = {t}})
    refused("a list of 1 to 8 starts", line, {1, 2, 3, 4, 5, 6, 7, 8, 9}, {args = {t}})
    refused("expected a function with 3 parameters", line, {1, 2}, {args = {t}})
    refused("axes of 40 and 5", function(a, y, z) return a - y * z end, {1}, {args = {t, gpu.ones(5, "float64")}})
    refused("optimize_each_spec.lua:", function(a, y) return a .. y end, {1}, {args = {t}})
    fails("has with each = true no derivative", function()
      gpu.grad(function(y) return optimize.least_squares(line, {1}, {each = true, args = {y}})[1]:sum() end)(t)
    end)
    fails("expected args with each = true", optimize.least_squares, line, {1}, {args = {t}})
  end)
end)

describe("gpu.optimize.root with each = true", function()
  -- A circle of radius r and a line of slope k.
  local function meet(x, y, r, k) return x * x + y * y - r * r, y - k * x end
  local r, k = gpu.linspace(0.5, 3, 7, "float64"):eval(), gpu.linspace(-1, 2, 7, "float64"):eval()

  it("finds the roots of all systems", function()
    local x, info = optimize.root(meet, {1, gpu.full(7, 0.2, "float64")}, {each = true, args = {r, k}})
    close(r / gpu.sqrt(1 + k * k), x[1])
    close(k * r / gpu.sqrt(1 + k * k), x[2])
    assert(info.converged:all():item() and info.iterations:max():item() < 12)
    local one = optimize.root(function(x, c) return x ^ 3 - c end, {1}, {each = true, args = {c}})
    close(gpu.cbrt(c), one[1])
    local single = optimize.root(meet, {1, 1}, {each = true, args = {r:astype("float32"), 1}})
    assert.are.equal("float32", single[1].dtype)
    close(r / math.sqrt(2), single[1], 1e-5)
  end)

  it("solves linear systems, whose rows it exchanges", function()
    -- The diagonal is 0 at first, and the solution is known.
    local wanted = gpu.random.normal({4, 50}, 0, 1, "float64"):eval()
    local a, b, c, d = wanted(1), wanted(2), wanted(3), wanted(4)
    local x, info = optimize.root(function(x, y, z, w, p, q, s, t)
      return y + 2 * z - p, x - w - q, 3 * x + 1e-3 * y - z - s, z + w + y - t
    end, {0, 0, 0, 0}, {each = true, args = {b + 2 * c, a - d, 3 * a + 1e-3 * b - c, c + d + b}})
    assert(info.converged:all():item() and info.iterations:max():item() <= 3)
    for i = 1, 4 do close(wanted(i), x[i], 1e-9, 1e-9) end
  end)

  it("shortens steps that lead away", function()
    local x, info = optimize.root(function(x) return math.atan(x) end, {gpu.array({1, 3, 20, -50}, "float64")}, {each = true})
    assert(info.converged:all():item() and x[1]:abs():max():item() < 1e-11)
    local logs = optimize.root(function(x) return math.log(x) end, {gpu.array({0.1, 5, 40}, "float64")}, {each = true})
    close(gpu.ones(3, "float64"), logs[1])
  end)

  it("says why a system has no result", function()
    local function reason(f, x0, options)
      options = options or {}
      options.each = true
      local x, info = optimize.root(f, x0, options)
      for _, one in ipairs(x) do assert.are.equal(info.converged:item(), one:item() == one:item()) end
      return info.reason:item()
    end
    assert.are.equal(1, reason(function(x) return math.exp(x) - 1 end, {9}, {maxiter = 2}))
    assert.are.equal(2, reason(function(x) return math.log(x) end, {-1}))
    assert.are.equal(2, reason(function(x, y) return x, 0 / 0 * y end, {1, 1}))
    assert.are.equal(4, reason(function(x, y) return x + y - 1, 2 * x + 2 * y - 3 end, {1, 1}))
    assert(reason(function(x) return x * x + 1 end, {0.7}) >= 4)
    assert.are.equal(0, reason(function(x) return x - 1 end, {1}))
  end)

  it("has the derivatives of the roots", function()
    local function first(r, k) return optimize.root(meet, {1, 0.2}, {each = true, args = {r, k}})[1] end
    local x, dr, dk = gpu.value_and_grad(first, {1, 2}, {each = true})(r, k)
    local root = gpu.sqrt(1 + k * k)
    close(r / root, x)
    close(1 / root, dr)
    close(-r * k / root ^ 3, dk)
    local second = gpu.grad(function(k) return (gpu.grad(first, 2, {each = true})(r, k)) end, {each = true})(k)
    close(r * (2 * k * k - 1) / root ^ 5, second, 1e-9, 1e-11)
  end)

  it("refuses what it does not understand", function()
    fails("expected each = true", optimize.root, meet, {1, 1}, {})
    fails("a list of 1 to 6 starts", optimize.root, meet, r, {each = true})
    fails("expected a function with 2 parameters", optimize.root, meet, {1, 1}, {each = true})
    fails("x0[2]", optimize.root, meet, {1, "1"}, {each = true, args = {1, 1}})
    fails("optimize_each_spec.lua:", optimize.root, function(x, y) return x end, {1, 1}, {each = true})
  end)
end)
