-- Distributions of NumPy that random.lua lacks, and its standard ones by name.
-- In sandboxes: all
local gpu, _, core, import = ...
local checks = import "checks"
local drawing = import "random"
local check_source, counts, distribution = drawing.check_source, drawing.counts, drawing.distribution
local random = gpu.random

-- ---- the standard ones ---------------------------------------------------------------------------------------------------------

--- gpu.random.standard_normal(shape [, {dtype, device, generator}])
distribution("standard_normal", {}, function(call) return call:normal() end)
--- gpu.random.standard_exponential(shape [, {dtype, device, generator}])
distribution("standard_exponential", {}, function(call) return -call:decay() end)
--- gpu.random.standard_cauchy(shape [, {dtype, device, generator}])
distribution("standard_cauchy", {}, function(call) return call:normal() / call:normal() end)
--- gpu.random.standard_gamma(shape, k [, {dtype, device, generator}])
distribution("standard_gamma", {"required"}, function(call, shape)
  return call:gamma(call:not_negative(shape, "a shape parameter"))
end)

-- ---- from gamma numbers ---------------------------------------------------------------------------------------------------------

--- gpu.random.gamma(shape, k [, scale] [, {dtype, device, generator}])
distribution("gamma", { "required", 1 }, function(call, shape, scale)
  call:not_negative(shape, "a shape parameter")
  call:scale(scale)
  return call:gamma(shape) * scale
end)

--- gpu.random.beta(shape, a, b [, {dtype, device, generator}])
distribution("beta", { "required", "required" }, function(call, a, b)
  call:positive(a, "a first parameter")
  call:positive(b, "a second parameter")
  return call:draw("random_beta", call.dtype, nil, a, b)
end)

--- gpu.random.chisquare(shape, freedom [, {dtype, device, generator}])
distribution("chisquare", { "required" }, function(call, freedom)
  return call:gamma(call:positive(freedom, "degrees of freedom") / 2) * 2
end)

--- gpu.random.f(shape, above, below [, {dtype, device, generator}])
distribution("f", { "required", "required" }, function(call, above, below)
  call:positive(above, "degrees of freedom")
  call:positive(below, "degrees of freedom")
  return call:gamma(above / 2) / above * below / call:gamma(below / 2)
end)

--- gpu.random.standard_t(shape, freedom [, {dtype, device, generator}])
distribution("standard_t", { "required" }, function(call, freedom)
  call:positive(freedom, "degrees of freedom")
  return call:normal() * gpu.sqrt(0.5 * freedom / call:gamma(freedom / 2))
end)

--- gpu.random.cauchy(shape [, location [, scale]] [, {dtype, device, generator}])
distribution("cauchy", { 0, 1 }, function(call, location, scale)
  call:location(location)
  call:scale(scale)
  return call:normal() / call:normal() * scale + location
end)

-- Michael, Schucany and Haas, "Generating random variates using transformations with multiple roots", 1976.
--- gpu.random.wald(shape, mean, scale [, {dtype, device, generator}])
distribution("wald", { "required", "required" }, function(call, mean, scale)
  call:positive(mean, "a mean")
  call:positive(scale, "a scale")
  local y = gpu.square(call:normal()) * (mean / (2 * scale))
  local smaller = 1 / (1 + y + gpu.sqrt(y * (y + 2)))
  return gpu.where(call:uniform():le(1 / (1 + smaller)), smaller, 1 / smaller) * mean
end)

--- gpu.random.vonmises(shape, mean, concentration [, {dtype, device, generator}])
distribution("vonmises", { 0, "required" }, function(call, mean, concentration)
  call:location(mean)
  call:not_negative(concentration, "a concentration")
  local angle = call:draw("random_vonmises", "float64", "float64", concentration) + mean
  return core.cast(gpu.remainder(angle + math.pi, 2 * math.pi) - math.pi, call.dtype)
end)

-- ---- noncentral ----------------------------------------------------------------------------------------------------------------

--- Half a noncentral chi-square number: a gamma number whose shape has a Poisson-distributed part.
local function noncentral(call, freedom, noncentrality)
  call:positive(freedom, "degrees of freedom")
  call:check(noncentrality, "a noncentrality from 0 to 1.84e19", {least = 0, most = 2 ^ 64 - 2 ^ 36})
  local events = call:draw("random_poisson", "float64", "int64", noncentrality / 2)
  return call:gamma(core.cast(events, "float64") + freedom / 2)
end

--- gpu.random.noncentral_chisquare(shape, freedom, noncentrality [, {dtype, device, generator}])
distribution("noncentral_chisquare", {"required", "required"}, function(call, freedom, noncentrality)
  return noncentral(call, freedom, noncentrality) * 2
end)

--- gpu.random.noncentral_f(shape, above, below, noncentrality [, {dtype, device, generator}])
distribution("noncentral_f", {"required", "required", "required"}, function(call, above, below, noncentrality)
  call:positive(below, "degrees of freedom")
  return noncentral(call, above, noncentrality) / above * below / call:gamma(below / 2)
end)

-- ---- counts --------------------------------------------------------------------------------------------------------------------

--- gpu.random.hypergeometric(shape, good, bad, sample [, {dtype, device, generator}])
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

--- gpu.random.zipf(shape, exponent [, {dtype, device, generator}])
distribution("zipf", {"required"}, function(call, exponent)
  call:check(exponent, "an exponent above 1", above_one)
  return call:draw("random_zipf", "float64", nil, exponent, call:greatest())
end, counts)

--- gpu.random.logseries(shape, p [, {dtype, device, generator}])
distribution("logseries", {"required"}, function(call, p)
  call:check(p, "a probability below 1", below_one)
  return call:counts("random_logseries", p)
end, counts)

-- ---- orders and bytes ----------------------------------------------------------------------------------------------------------

--- gpu.random.permuted(x [, {axis, generator}])
--- Each vector along the axis, or all elements, in an order of its own.
local function permuted(generator, x, options)
  local op = "random.permuted"
  options = check_source(op, options, generator)
  checks.array(op, x)
  local items, axis = x, options.axis
  if axis == nil then items, axis = x:ravel(), 1 end
  axis = core.axis(op, axis, items.ndim)
  local keys = core.draw_integers(op, items.shape, 0, 0x7fffffffffffffffLL, "int64", generator or options.generator, x.device)
  return items:take_along_axis(keys:argsort(axis), axis):reshape(x.shape)
end

--- gpu.random.bytes(n [, {generator, device}])
--- A Lua string of n random bytes. Waits.
local function bytes(generator, n, options)
  local op = "random.bytes"
  options = check_source(op, options, generator)
  checks.integer(op, "a number of bytes of 0 or more", n)
  if n < 0 then core.fail(op, "a number of bytes of 0 or more", n) end
  local values = core.draw_integers(op, n, 0, 255, "uint8", generator or options.generator, options.device)
  return n == 0 and "" or require "ffi".string(core.host(values), n)
end

for name, fn in pairs {bytes = bytes, permuted = permuted} do
  random[name] = function(...) return fn(nil, ...) end
  core.generator_methods[name] = fn
end
