-- Distributions, computed by array operations from uniform, normal and other random numbers. They fuse with later operations.
-- In sandboxes: all
local gpu, _, core, import = ...
local checks = import "checks"
local kinds = import "kinds"

local exports = {}
local random, draw = gpu.random, core.draw

-- The greatest number below 1, to which numbers from (0, 1] are clipped.
local below_one = { float16 = 1 - 2 ^ -11, bfloat16 = 1 - 2 ^ -8, float32 = 1 - 2 ^ -24, float64 = 1 - 2 ^ -53 }

--- The state of one call: the result's shape, dtype and device, and the generator.
local Call = {}
Call.__index = Call

function Call:uniform(dtype) return draw(self.op, "random_uniform", self.shape, dtype or self.dtype, self.generator, self.device) end
function Call:normal() return draw(self.op, "random_normal", self.shape, self.dtype, self.generator, self.device) end
function Call:inner() return gpu.minimum(self:uniform(), below_one[self.dtype]) end
--- Draws numbers of the distribution `row` of the op table, with parameters. `compute`: the dtype of the computation. `dtype`: the
--- result's, by default the call's.
function Call:draw(row, compute, dtype, ...)
  return draw(self.op, row, self.shape, dtype or self.dtype, self.generator, self.device, compute, ...)
end
--- Gamma-distributed numbers of scale 1, as `dtype` or the call's dtype.
function Call:gamma(shape, dtype)
  dtype = dtype or self.dtype
  return self:draw("random_gamma", dtype, dtype, shape)
end

-- The greatest number of each dtype, for 64 bits the greatest that is a long long and a double.
local greatest = {
  int8 = 2 ^ 7 - 1, int16 = 2 ^ 15 - 1, int32 = 2 ^ 31 - 1, int64 = 2 ^ 63 - 1024,
  uint8 = 2 ^ 8 - 1, uint16 = 2 ^ 16 - 1, uint32 = 2 ^ 32 - 1, uint64 = 2 ^ 63 - 1024,
}
function Call:greatest() return greatest[self.dtype] end
--- Counts as the call's dtype: those that it cannot hold are its greatest number.
function Call:narrowed(counts)
  if greatest[self.dtype] >= 2 ^ 53 then return core.cast(counts, self.dtype) end
  return core.cast(gpu.minimum(counts, greatest[self.dtype]), self.dtype)
end
--- Draws counts of the distribution `row` of the op table.
function Call:counts(row, ...) return self:narrowed(self:draw(row, "float64", "int64", ...)) end
--- Exponentially distributed numbers of mean 1, negated.
function Call:decay() return gpu.log(self:uniform()) end

--- Valid numbers: from `least` to `most`; `above` and `below`: without these two; `whole`: integers.
local finite = { least = -math.huge, above = true, most = math.huge, below = true }
local positive = { least = 0, above = true, most = math.huge, below = true }
local not_negative = { least = 0, most = math.huge, below = true }
-- Counts are computed in double. Poisson-distributed numbers of the greatest mean are below 2^63.
local count = { least = 0, most = 2 ^ 53, whole = true }
local mean_count = { least = 0, most = 2 ^ 63 - 2 ^ 35 }
local probability = { least = 0, most = 1 }
local rate = { least = 0, above = true, most = 1 }

local function is_valid(valid, x)
  return x >= valid.least and x <= valid.most and not (valid.above and x == valid.least) and not (valid.below and x == valid.most)
    and not (valid.whole and x % 1 ~= 0)
end

--- The value in a result where parameters are invalid.
local function invalid_number(result)
  if result.dtype == "bool" then return false end
  return kinds.is_floating(result) and 0 / 0 or 0
end

--- Which elements of an array are valid, as an array.
local function valid_elements(valid, x)
  if not kinds.is_floating(x) then x = core.cast(x, "float64") end -- an integer dtype may not hold a bound
  local from = valid.above and x:gt(valid.least) or x:ge(valid.least)
  local to = valid.below and x:lt(valid.most) or x:le(valid.most)
  local both = from:logical_and(to)
  return valid.whole and both:logical_and(x:eq(x:floor())) or both
end

--- Raises an error for a parameter that is neither a valid number nor an array. The elements of an array in memory are checked on
--- the device, and the result of the call depends on that check. An expression stays pending and becomes part of the kernel that draws:
--- its invalid elements give NaN, or 0.
function Call:check(value, what, valid)
  if core.is_array(value) then
    checks.real(self.op, value)
    if value.size > 0 then
      local text = ("[%s] expected %s"):format(self.op, what)
      self.checks[#self.checks + 1] = core.check_numbers(text, value, valid) or valid_elements(valid, value)
    end
    return value
  end
  if type(value) ~= "number" or not is_valid(valid, value) then core.fail(self.op, what, value) end
  return value
end

--- A location shifts the numbers, so one in an array that is not finite shows in the result.
function Call:location(value)
  return core.is_array(value) and value or self:check(value, "a finite number or an array", finite)
end
function Call:scale(value, what) return self:check(value, (what or "a scale") .. " that is not negative", not_negative) end

function Call:positive(value, what) return self:check(value, what .. " above 0", positive) end
function Call:not_negative(value, what) return self:check(value, what .. " of 0 or more", not_negative) end
function Call:count(value, what) return self:check(value, what .. " from 0 to 2^53", count) end
function Call:mean(value, what) return self:check(value, what .. " from 0 to 9.22e18", mean_count) end
--- Raises an error for a number computed from parameters, or for elements of an array of them.
function Call:check_derived(value, what, valid) return self:check(core.is_array(value) and value:eval() or value, what, valid) end

--- Checks the options of a function, or of a method, whose generator is given.
function exports.check_source(op, options, generator)
  options = checks.fields(op, options)
  if generator and options.generator ~= nil then
    core.raise(("[%s] expected the option generator only with gpu.%s, got it with the method of a generator"):format(op, op))
  end
  return options
end

local function is_options(value) return type(value) == "string" or type(value) == "table" end

local function list_text(list)
  local items = {}
  for i, item in ipairs(list) do items[i] = type(item) == "table" and "{" .. list_text(item) .. "}" or tostring(item) end
  return table.concat(items, ", ")
end

--- Raises an error for arguments in NumPy's order, with the shape after the parameters: a list in place of the options, the option
--- size, or parameters after a number that is not a size. Fewer than all `parameters` are for one number.
local function check_order(op, shape, values, count, parameters, options)
  if type(shape) == "table" then
    for i = 1, count + 1 do
      local value = i <= count and values[i] or type(options) == "table" and #options > 0 and options
      if type(value) == "table" then
        core.raise(("[%s] expected numbers or arrays after the shape, got the table {%s}; gpu.array(t) makes an array of a table"):format(
          op, list_text(value)))
      end
    end
  end
  local last = type(options) == "table" and (#options > 0 and options or options.size or options.shape) or nil
  local is_no_size = type(shape) == "number" and not (shape >= 1 and shape % 1 == 0) and count > 0
  if last == nil and not is_no_size then return end
  local has_size = last == nil and count == parameters
  local turned = { last or has_size and values[count] or 1, shape, unpack(values, 1, has_size and count - 1 or count) }
  for i, value in ipairs(turned) do
    turned[i] = core.is_array(value) and "x" or type(value) == "table" and "{" .. list_text(value) .. "}" or tostring(value)
  end
  core.raise(("[%s] expected the shape first, as in gpu.%s(%s), got %s first%s"):format(op, op, table.concat(turned, ", "),
    core.describe(shape), shape == 0 and "; {0} is a shape without elements" or ""))
end

--- Warns of arguments that are as likely in NumPy's order: the last of all parameters is an integer from 100 on, and what stands for the
--- shape is a smaller number. `accepts`: whether the others can be parameters in that order.
local function warn_of_order(op, shape, values, count, accepts)
  local last = values[count]
  if type(shape) ~= "number" or type(last) ~= "number" or last < 100 or last % 1 ~= 0 or shape >= last then return end
  local turned = { last, shape, unpack(values, 1, count - 1) }
  for _, value in ipairs(turned) do
    if type(value) ~= "number" then return end
  end
  if accepts and not accepts(unpack(turned, 2)) then return end
  core.warn(("[%s] expected the shape first: this call gives %g numbers. %g of them are gpu.%s(%s); a table, {%g}, says that the shape is meant"):format(
    op, shape, last, op, table.concat(turned, ", "), shape))
end

--- The sizes of the call's shape, and `more` after them.
function Call:sizes(more)
  local shape = type(self.shape) == "table" and {unpack(self.shape)} or {self.shape}
  shape[#shape + 1] = more
  return shape
end

--- Raises an error for a parameter that does not broadcast to the call's shape.
local function check_shapes(call, values, count)
  if type(call.shape) ~= "number" and type(call.shape) ~= "table" then return end
  local sizes = call:sizes()
  for i = 1, count do
    local shape = core.is_array(values[i]) and values[i].shape or {}
    for k = 1, #shape do
      local size = shape[#shape + 1 - k]
      if size ~= 1 and size ~= sizes[#sizes + 1 - k] then
        core.raise(("[%s] expected parameters that broadcast to %s, got one of %s"):format(call.op, checks.shape_text(sizes), checks.shape_text(shape)))
      end
    end
  end
end

--- Defines gpu.random.name(shape, parameters... [, options]). `parameters`: their defaults, or "required". `make`: computes the
--- numbers from the call and the parameters. `kind.check_dtype` and `kind.dtype`: the valid dtypes and the default one; floating-point
--- dtypes and that of gpu.default_dtype if omitted. With `kind.vectors`, a draw has several numbers, whose count `make` returns second, and a
--- parameter can be a table. `kind.accepts`: whether numbers can be the parameters.
local function distribution(name, parameters, make, kind)
  kind = kind or {}
  local check_dtype = kind.check_dtype or core.floating_dtype
  local op = "random." .. name
  local function call_for(generator, shape, ...)
    local values, options = { ... }, nil
    local count = select("#", ...)
    if count > 0 and is_options(values[count]) and (not kind.vectors or type(values[count]) == "string" or #values[count] == 0) then
      options, values[count], count = values[count], nil, count - 1
    end
    if not kind.vectors then check_order(op, shape, values, count, #parameters, options) end
    if count > #parameters then
      local text = #parameters == 0 and "no parameters" or ("at most %d parameter%s"):format(#parameters, #parameters == 1 and "" or "s")
      core.raise(("[%s] expected one shape and %s, got %d arguments; a shape of several sizes is a table, gpu.%s({2, 3}%s)"):format(op, text,
        count + 1, op, #parameters == 0 and "" or ", ..."))
    end
    if count > 0 and count == #parameters then warn_of_order(op, shape, values, count, kind.accepts) end
    if type(options) == "string" then options = { dtype = options } end
    options = exports.check_source(op, options, generator)
    local call = setmetatable({ op = op, shape = shape, options = options, generator = generator or options.generator,
      device = options.device, checks = {} }, Call)
    call.dtype = check_dtype(op, options.dtype or kind.dtype or gpu.default_dtype())
    for i, default in ipairs(parameters) do
      if values[i] == nil then
        if default == "required" then
          local least = #parameters
          while parameters[least] ~= "required" do least = least - 1 end
          local most = least < #parameters and (" to %d"):format(#parameters) or ""
          core.raise(("[%s] expected a shape and %d%s parameter%s, got %d"):format(op, least, most, #parameters == 1 and "" or "s", i - 1))
        end
        values[i] = default
      end
    end
    if not kind.vectors then check_shapes(call, values, #parameters) end
    local result, items = make(call, unpack(values, 1, #parameters))
    for _, valid in ipairs(call.checks) do
      result = gpu.where(valid, result, invalid_number(result))
    end
    local wanted = checks.shape_text(call:sizes(items))
    if checks.shape_text(result.shape) ~= wanted then
      core.raise(("[%s] expected parameters that broadcast to %s, got a result of %s"):format(op, wanted, checks.shape_text(result.shape)))
    end
    return result
  end
  random[name] = function(...) return call_for(nil, ...) end
  core.generator_methods[name] = call_for
end
exports.distribution = distribution

-- Inversion of the distribution function, or two numbers when the inverse is infinite at an end.

--- gpu.random.uniform(shape [, low [, high]] [, {dtype, device, generator}])
distribution("uniform", { 0, 1 }, function(call, low, high)
  call:location(low)
  call:location(high)
  if core.is_array(low) or core.is_array(high) then
    call:check_derived(high - low, "low of at most high, a width high - low of 0 or more", { least = 0, most = math.huge })
  elseif low > high then
    core.raise(("[%s] expected low of at most high, got %s and %s; the shape comes first: gpu.random.uniform(shape, low, high)"):format(
      call.op, core.describe(low), core.describe(high)))
  end
  return call:uniform() * (high - low) + low
end, { accepts = function(low, high) return low < high end })

--- gpu.random.normal(shape [, mean [, deviation]] [, {dtype, device, generator}])
distribution("normal", { 0, 1 }, function(call, mean, deviation)
  call:location(mean)
  call:scale(deviation, "a standard deviation")
  return call:normal() * deviation + mean
end)

--- gpu.random.lognormal(shape [, mean [, deviation]] [, {dtype, device, generator}])
distribution("lognormal", { 0, 1 }, function(call, mean, deviation)
  call:location(mean)
  call:scale(deviation, "a standard deviation")
  return gpu.exp(call:normal() * deviation + mean)
end)

--- gpu.random.exponential(shape [, scale] [, {dtype, device, generator}])
distribution("exponential", { 1 }, function(call, scale) return call:decay() * -call:scale(scale) end)

--- gpu.random.laplace(shape [, location [, scale]] [, {dtype, device, generator}])
distribution("laplace", { 0, 1 }, function(call, location, scale)
  call:location(location)
  call:scale(scale)
  return (call:decay() - call:decay()) * scale + location
end)

--- gpu.random.logistic(shape [, location [, scale]] [, {dtype, device, generator}])
distribution("logistic", { 0, 1 }, function(call, location, scale)
  call:location(location)
  call:scale(scale)
  local u = call:inner()
  return gpu.log(u / (1 - u)) * scale + location
end)

--- gpu.random.gumbel(shape [, location [, scale]] [, {dtype, device, generator}])
distribution("gumbel", { 0, 1 }, function(call, location, scale)
  call:location(location)
  call:scale(scale)
  return gpu.log(-gpu.log(call:inner())) * -scale + location
end)

--- gpu.random.rayleigh(shape [, scale] [, {dtype, device, generator}])
distribution("rayleigh", { 1 }, function(call, scale) return gpu.sqrt(call:decay() * -2) * call:scale(scale) end)

--- gpu.random.weibull(shape, k [, {dtype, device, generator}])
distribution("weibull", { "required" }, function(call, shape)
  call:check(shape, "a shape parameter above 0", positive)
  return (-call:decay()) ^ (1 / shape)
end)

--- gpu.random.pareto(shape, alpha [, {dtype, device, generator}])
distribution("pareto", { "required" }, function(call, shape)
  call:check(shape, "a shape parameter above 0", positive)
  return gpu.exp(call:decay() * (-1 / shape)) - 1
end)

--- gpu.random.power(shape, exponent [, {dtype, device, generator}])
distribution("power", { "required" }, function(call, exponent)
  call:check(exponent, "an exponent above 0", positive)
  return call:uniform() ^ (1 / exponent)
end)

--- gpu.random.triangular(shape [, left [, mode [, right]]] [, {dtype, device, generator}])
distribution("triangular", { 0, 0.5, 1 }, function(call, left, mode, right)
  call:location(left)
  call:location(mode)
  call:location(right)
  call:not_negative(mode - left, "mode - left, the place of the mode,")
  call:not_negative(right - mode, "right - mode, the place of the mode,")
  local u, width = call:uniform(), call:positive(right - left, "a width, right - left,")
  local below = (mode - left) / width
  return gpu.where(u:le(below), gpu.sqrt(u * below) * width + left, gpu.sqrt((1 - u) * (1 - below)) * -width + right)
end)

--- gpu.random.bernoulli(shape [, p] [, {dtype, device, generator}])
distribution("bernoulli", { 0.5 }, function(call, p)
  call:check(p, "a probability", probability)
  return call:uniform():le(p)
end)

-- ---- counts ---------------------------------------------------------------------------------------------------------------------

exports.counts = { check_dtype = core.integer_dtype, dtype = "int64" }
local function counts(name, parameters, make) distribution(name, parameters, make, exports.counts) end

--- gpu.random.poisson(shape [, mean] [, {dtype, device, generator}])
counts("poisson", { 1 }, function(call, mean) return call:counts("random_poisson", call:mean(mean, "a mean")) end)

--- gpu.random.binomial(shape, trials, p [, {dtype, device, generator}])
counts("binomial", { "required", "required" }, function(call, trials, p)
  call:count(trials, "a number of trials")
  call:check(p, "a probability", probability)
  return call:counts("random_binomial", trials, p)
end)

--- log(1 + x), of a number or an array.
local function log1p(x)
  if core.is_array(x) then return gpu.log1p(core.cast(x, "float64")) end
  local sum = 1 + x
  return sum == 1 and x or math.log(sum) * (x / (sum - 1))
end

--- gpu.random.geometric(shape, p [, {dtype, device, generator}])
counts("geometric", { "required" }, function(call, p)
  call:check(p, "a probability above 0", rate)
  return core.cast(gpu.maximum(gpu.ceil(gpu.log(call:uniform "float64") / log1p(-p)), 1), call.dtype)
end)

-- A Poisson distribution with a gamma-distributed mean.
--- gpu.random.negative_binomial(shape, successes, p [, {dtype, device, generator}])
counts("negative_binomial", { "required", "required" }, function(call, successes, p)
  call:positive(successes, "a number of successes")
  call:check(p, "a probability above 0", rate)
  local odds = (1 - p) / p
  -- Practically all gamma numbers are below this.
  local most = (successes + 10 * successes ^ 0.5) * odds
  call:check_derived(most, "successes and a probability with at most 9.22e18 failures", mean_count)
  return call:counts("random_poisson", call:gamma(successes, "float64") * odds)
end)

-- ---- integers -------------------------------------------------------------------------------------------------------------------

--- gpu.random.integers(shape, [low,] high [, options]): integers from low (0) to high - 1; with the option `endpoint`, to high.
local function integers(generator, shape, low, high, options)
  local op = "random.integers"
  local last = is_options(high) and high or options
  local values = { low, core.is_number(high) and high or nil }
  check_order(op, shape, values, #values, 2, last)
  if is_options(high) then high, options = checks.shift(op, high, options) end
  if high == nil then low, high = 0, low end
  if type(options) == "string" then options = { dtype = options } end
  options = exports.check_source(op, options, generator)
  return core.draw_integers(op, shape, low, high, options.dtype or "int64", generator or options.generator, options.device,
    not checks.flag(op, "endpoint", options.endpoint))
end
--- gpu.random.integers(shape, [low,] high [, {dtype, device, generator, endpoint}])
function random.integers(...) return integers(nil, ...) end
core.generator_methods.integers = integers

return exports
