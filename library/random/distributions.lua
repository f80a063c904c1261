-- Distributions of NumPy that random.lua lacks, and its standard ones by name.
local gpu, _, core = ...
core.load "random.lua"
local random, distribution, counts = gpu.random, core.distribution, core.counts

-- ---- the standard ones ---------------------------------------------------------------------------------------------------------

distribution("standard_normal", {}, function(call) return call:normal() end)
distribution("standard_exponential", {}, function(call) return -call:decay() end)
distribution("standard_cauchy", {}, function(call) return call:normal() / call:normal() end)
distribution("standard_gamma", {"required"}, function(call, shape)
  return call:gamma(call:not_negative(shape, "a shape parameter"))
end)

-- ---- noncentral ----------------------------------------------------------------------------------------------------------------

--- Half a noncentral chi-square number: a gamma number whose shape has a Poisson-distributed part.
local function noncentral(call, freedom, noncentrality)
  call:positive(freedom, "degrees of freedom")
  call:check(noncentrality, "a noncentrality from 0 to 1.84e19", {least = 0, most = 2 ^ 64 - 2 ^ 36})
  local events = call:draw("random_poisson", "float64", "int64", noncentrality / 2)
  return call:gamma(core.cast(events, "float64") + freedom / 2)
end

distribution("noncentral_chisquare", {"required", "required"}, function(call, freedom, noncentrality)
  return noncentral(call, freedom, noncentrality) * 2
end)

distribution("noncentral_f", {"required", "required", "required"}, function(call, above, below, noncentrality)
  call:positive(below, "degrees of freedom")
  return noncentral(call, above, noncentrality) / above * below / call:gamma(below / 2)
end)

-- ---- counts --------------------------------------------------------------------------------------------------------------------

distribution("hypergeometric", {"required", "required", "required"}, function(call, good, bad, sample)
  call:count(good, "a number of good items")
  call:count(bad, "a number of bad items")
  call:count(sample, "a number of items in the sample")
  local left = good + bad - sample
  if core.is_array(left) then
    call:not_negative(left, "good + bad - sample, the items that are left,")
  elseif left < 0 then
    core.raise(("[%s] expected a sample of at most %d + %d items, got %d"):format(call.op, good, bad, sample))
  end
  call:check_derived(good + bad, "good + bad, all items, from 0 to 2^53", {least = 0, most = 2 ^ 53})
  return call:counts("random_hypergeometric", good, bad, sample)
end, counts)

local above_one = { least = 1, above = true, most = math.huge, below = true }
local below_one = { least = 0, most = 1, below = true }

distribution("zipf", {"required"}, function(call, exponent)
  call:check(exponent, "an exponent above 1", above_one)
  return call:draw("random_zipf", "float64", nil, exponent, call:greatest())
end, counts)

distribution("logseries", {"required"}, function(call, p)
  call:check(p, "a probability below 1", below_one)
  return call:counts("random_logseries", p)
end, counts)

-- ---- orders and bytes ----------------------------------------------------------------------------------------------------------

--- permuted(x [, {axis =}]): each vector along the axis, or all elements, in an order of its own.
local function permuted(generator, x, options)
  local op = "random.permuted"
  options = core.check_source(op, options, generator)
  core.check_array(op, x)
  local items, axis = x, options.axis
  if axis == nil then items, axis = x:ravel(), 1 end
  axis = core.axis(op, axis, items.ndim)
  local keys = core.draw_integers(op, items.shape, 0, 0x7fffffffffffffffLL, "int64", generator or options.generator, x.device)
  return items:take_along_axis(keys:argsort(axis), axis):reshape(x.shape)
end

--- bytes(n): a Lua string of n random bytes. Waits.
local function bytes(generator, n, options)
  local op = "random.bytes"
  options = core.check_source(op, options, generator)
  core.check_integer(op, "a number of bytes of 0 or more", n)
  if n < 0 then core.fail(op, "a number of bytes of 0 or more", n) end
  local values = core.draw_integers(op, n, 0, 255, "uint8", generator or options.generator, options.device)
  return n == 0 and "" or require "ffi".string(core.host(values), n)
end

for name, fn in pairs {bytes = bytes, permuted = permuted} do
  random[name] = function(...) return fn(nil, ...) end
  core.generator_methods[name] = fn
end
