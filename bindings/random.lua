-- Distributions, made of uniform and normal numbers by array operations, which fuse with what is done to them.
local gpu, _, core = ...
local random, draw = gpu.random, core.draw

-- The greatest number below 1: numbers up to that keep clear of the end of (0, 1].
local below_one = { float16 = 1 - 2 ^ -11, bfloat16 = 1 - 2 ^ -8, float32 = 1 - 2 ^ -24, float64 = 1 - 2 ^ -53 }

--- What a call is about: where numbers go and come from.
local Call = {}
Call.__index = Call

function Call:uniform() return draw(self.op, "random_uniform", self.shape, self.dtype, self.generator, self.device) end
function Call:normal() return draw(self.op, "random_normal", self.shape, self.dtype, self.generator, self.device) end
function Call:inner() return gpu.minimum(self:uniform(), below_one[self.dtype]) end
--- Exponentially distributed numbers of mean 1, negative.
function Call:decay() return gpu.log(self:uniform()) end

--- Raises an error unless the parameter is an array, or a number for which `holds`.
function Call:check(value, what, holds)
  if core.is_array(value) then return value end
  if type(value) ~= "number" or not holds(value) then core.fail(self.op, what, value) end
  return value
end

local function finite(x) return x - x == 0 end
local function positive(x) return finite(x) and x > 0 end
local function not_negative(x) return finite(x) and x >= 0 end
local function probability(x) return x >= 0 and x <= 1 end

function Call:location(value) return self:check(value, "a finite number or an array", finite) end
function Call:scale(value, what) return self:check(value, (what or "a scale") .. " that is not negative", not_negative) end

local function is_options(value) return type(value) == "string" or type(value) == "table" end

--- gpu.random.name(shape, parameters... [, options]), with the defaults of the parameters that have some. `make` gets the call and the
--- parameters.
local function distribution(name, parameters, make)
  local op = "random." .. name
  local function call_for(generator, shape, ...)
    local values, options = { ... }, nil
    local count = select("#", ...)
    if count > 0 and is_options(values[count]) then
      options, values[count], count = values[count], nil, count - 1
    end
    if count > #parameters then core.fail(op, ("at most %d parameters"):format(#parameters), count) end
    if type(options) == "string" then options = { dtype = options } end
    options = core.check_fields(op, options, "dtype device generator")
    local call = setmetatable({ op = op, shape = shape, options = options, generator = generator or options.generator, device = options.device },
      Call)
    call.dtype = core.floating_dtype(op, options.dtype or "float32")
    for i, default in ipairs(parameters) do
      if values[i] == nil then
        if default == "required" then core.fail(op, "a shape and " .. #parameters .. " parameters", values[i]) end
        values[i] = default
      end
    end
    local result = make(call, unpack(values, 1, #parameters))
    local wanted = core.text(type(shape) == "table" and shape or { shape })
    if core.text(result.shape) ~= wanted then
      core.raise(("[%s] expected parameters that broadcast to %s, got a result of %s"):format(op, wanted, core.text(result.shape)))
    end
    return result
  end
  random[name] = function(...) return call_for(nil, ...) end
  core.generator_methods[name] = call_for
end

-- By inversion, or from two numbers where the inverse would be infinite at an end.

distribution("uniform", { 0, 1 }, function(call, low, high)
  call:location(low)
  call:location(high)
  return call:uniform() * (high - low) + low
end)

distribution("normal", { 0, 1 }, function(call, mean, deviation)
  call:location(mean)
  call:scale(deviation, "a standard deviation")
  return call:normal() * deviation + mean
end)

distribution("lognormal", { 0, 1 }, function(call, mean, deviation)
  call:location(mean)
  call:scale(deviation, "a standard deviation")
  return gpu.exp(call:normal() * deviation + mean)
end)

distribution("exponential", { 1 }, function(call, scale) return call:decay() * -call:scale(scale) end)

distribution("laplace", { 0, 1 }, function(call, location, scale)
  call:location(location)
  call:scale(scale)
  return (call:decay() - call:decay()) * scale + location
end)

distribution("logistic", { 0, 1 }, function(call, location, scale)
  call:location(location)
  call:scale(scale)
  local u = call:inner()
  return gpu.log(u / (1 - u)) * scale + location
end)

distribution("gumbel", { 0, 1 }, function(call, location, scale)
  call:location(location)
  call:scale(scale)
  return gpu.log(-gpu.log(call:inner())) * -scale + location
end)

distribution("rayleigh", { 1 }, function(call, scale) return gpu.sqrt(call:decay() * -2) * call:scale(scale) end)

distribution("weibull", { "required" }, function(call, shape)
  call:check(shape, "a shape parameter above 0", positive)
  return (-call:decay()) ^ (1 / shape)
end)

distribution("pareto", { "required" }, function(call, shape)
  call:check(shape, "a shape parameter above 0", positive)
  return gpu.exp(call:decay() * (-1 / shape)) - 1
end)

distribution("power", { "required" }, function(call, exponent)
  call:check(exponent, "an exponent above 0", positive)
  return call:uniform() ^ (1 / exponent)
end)

distribution("triangular", { 0, 0.5, 1 }, function(call, left, mode, right)
  call:location(left)
  call:location(mode)
  call:location(right)
  local u, width = call:uniform(), right - left
  local below = (mode - left) / width
  return gpu.where(u:le(below), gpu.sqrt(u * below) * width + left, gpu.sqrt((1 - u) * (1 - below)) * -width + right)
end)

distribution("bernoulli", { 0.5 }, function(call, p)
  call:check(p, "a probability", probability)
  return call:uniform():le(p)
end)

-- ---- integers -------------------------------------------------------------------------------------------------------------------

--- gpu.random.integers(shape, [low,] high [, options]): from low, or 0, to high - 1; to high with the option `endpoint`.
local function integers(generator, shape, low, high, options)
  local op = "random.integers"
  if high == nil or is_options(high) then low, high, options = 0, low, high end
  if type(options) == "string" then options = { dtype = options } end
  options = core.check_fields(op, options, "dtype device generator endpoint")
  core.check_integer(op, "an integer for the lowest", low)
  core.check_integer(op, "an integer for the end of the range", high)
  return core.draw_integers(op, shape, low, options.endpoint and high or high - 1, options.dtype or "int64",
    generator or options.generator, options.device)
end
function random.integers(...) return integers(nil, ...) end
core.generator_methods.integers = integers
