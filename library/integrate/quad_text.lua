-- The kernel of gpu.integrate.quad with each = true, as Lua text: a thread integrates a function. It keeps a list of the intervals that
-- can be divided, and divides the one with the greatest error. Intervals whose error is rounding are in the sums alone.
-- The first two are the halves of the range: the rules' difference for the whole of it is 0 by accident for some parameter of most
-- families of functions.

--- spec: dtype, epsilon, limit (the most intervals), parameters (names), texts (of a, b and f's last arguments). The text is a function of
--- gpu, substitution, estimate, points, kronrod and gauss.
return function(spec)
  local values = {"a", "b"}
  for k = 3, #spec.texts do values[k] = "value" .. k end
  local parts = {
    parameters = #spec.parameters > 0 and ", " .. table.concat(spec.parameters, ", ") or "",
    passed = #values > 2 and ", " .. table.concat(values, ", ", 3) or "",
    values = table.concat(values, ", "), texts = table.concat(spec.texts, ", "),
    dtype = spec.dtype, epsilon = ("%.17g"):format(spec.epsilon), limit = spec.limit, center = ("%.17g"):format(spec.center),
  }
  local text = [[
local gpu, substitution, estimate, points, kronrod, gauss = ...
return function(count, f, settings, results, errors, pieces, reasons$(parameters))
  local i = gpu.grid()
  if i <= count then
    local values = gpu.local_array(21, "$(dtype)")
    local lows = gpu.local_array($(limit), "$(dtype)")
    local highs = gpu.local_array($(limit), "$(dtype)")
    local integrals = gpu.local_array($(limit), "$(dtype)")
    local bounds = gpu.local_array($(limit), "$(dtype)")
    local zero = gpu.$(dtype)(0)
    local $(values) = $(texts)
    local kind, sign = gpu.int32(0), zero + 1
    if a > b then
      local other = a
      a = b
      b = other
      sign = -sign
    end
    if b - a == math.huge then
      if a - a == 0 then kind = gpu.int32(1) elseif b - b == 0 then kind = gpu.int32(2) else kind = gpu.int32(3) end
    end
    local listed, intervals, reason = gpu.int32(0), gpu.int32(0), gpu.int32(-1)
    local kept, kept_error, result, bound = zero, zero, zero, zero
    local low, high = zero - 1, zero + 1
    if kind == 1 or kind == 2 then low = zero end
    if a == b then reason = gpu.int32(0) else intervals = gpu.int32(1) end
    while reason < 0 do
      local middle = (low + high) / 2
      for part = 1, 2 do
        local from, to = low, high
        if part == 1 then to = middle else from = middle end
        local half, center = (to - from) / 2, (from + to) / 2
        local x, dx = substitution(kind, a, b, center)
        local at_center = f(x$(passed)) * dx
        local k, g, size = $(center) * at_center, zero, $(center) * math.abs(at_center)
        for j = 1, 10 do
          local t = half * points[j]
          local x1, dx1 = substitution(kind, a, b, center - t)
          local x2, dx2 = substitution(kind, a, b, center + t)
          local v1, v2 = zero + f(x1$(passed)) * dx1, zero + f(x2$(passed)) * dx2
          values[j] = v1
          values[j + 10] = v2
          k = k + kronrod[j] * (v1 + v2)
          g = g + gauss[j] * (v1 + v2)
          size = size + kronrod[j] * (math.abs(v1) + math.abs(v2))
        end
        local mean = k / 2
        local spread = $(center) * math.abs(at_center - mean)
        for j = 1, 10 do spread = spread + kronrod[j] * (math.abs(values[j] - mean) + math.abs(values[j + 10] - mean)) end
        local e = estimate((k - g) * half, spread * half, size * half, zero + $(epsilon))
        if e <= 51 * $(epsilon) * size * half or half < 512 * $(epsilon) then
          kept = kept + k * half
          kept_error = kept_error + e
        else
          listed = listed + 1
          lows[listed] = from
          highs[listed] = to
          integrals[listed] = k * half
          bounds[listed] = e
        end
      end
      intervals = intervals + 1
      result = kept
      bound = kept_error
      local worst = gpu.int32(1)
      for j = 1, listed do
        result = result + integrals[j]
        bound = bound + bounds[j]
        if bounds[j] > bounds[worst] then worst = gpu.int32(j) end
      end
      if not (bound - bound == 0) or not (result - result == 0) then
        reason = gpu.int32(3)
      elseif bound <= gpu.fmax(settings[1], settings[2] * math.abs(result)) then
        reason = gpu.int32(0)
      elseif listed == 0 then
        reason = gpu.int32(2)
      elseif intervals >= $(limit) then
        reason = gpu.int32(1)
      else
        low = lows[worst]
        high = highs[worst]
        lows[worst] = lows[listed]
        highs[worst] = highs[listed]
        integrals[worst] = integrals[listed]
        bounds[worst] = bounds[listed]
        listed = listed - 1
      end
    end
    results[i] = sign * result
    errors[i] = bound
    pieces[i] = intervals
    reasons[i] = reason
  end
end]]
  return (text:gsub("%$%((%w+)%)", parts))
end
