-- The simplex method of J. A. Nelder and R. Mead, 1965. The simplex is on the host; each value is a look at the device.
local _, _, core, import = ...
local is_finite = import("numbers").is_finite

--- Gives the point, the reason and the iterations. `adaptive`: the factors of F. Gao and L. Han, 2012, for many variables.
return function(of, f, start, o)
  local n = of.n
  local bounds = o.bounds and {o.bounds[1]:broadcast_to {n}:table(), o.bounds[2]:broadcast_to {n}:table()}
  local expand, contract, shrink = 2, 0.5, 0.5
  if o.adaptive then expand, contract, shrink = 1 + 2 / n, 0.75 - 0.5 / n, 1 - 1 / n end
  local finite = true
  local function array(x) return of:array {unpack(x, 1, n)} end
  --- A vertex: its coordinates, and its value.
  local function vertex(x)
    for i = 1, bounds and n or 0 do x[i] = math.min(math.max(x[i], bounds[1][i]), bounds[2][i]) end
    x.value = of:value(f, array(x)):item()
    finite = finite and is_finite(x.value)
    return x
  end
  local simplex = {vertex(start:table())}
  for i = 1, n do
    local x = {unpack(simplex[1], 1, n)}
    x[i] = x[i] ~= 0 and 1.05 * x[i] or 0.00025
    if bounds and x[i] > bounds[2][i] then x[i] = 2 * bounds[2][i] - x[i] end
    simplex[i + 1] = vertex(x)
  end
  local function spread()
    local far, apart = 0, 0
    for i = 2, n + 1 do
      apart = math.max(apart, simplex[i].value - simplex[1].value)
      for j = 1, n do far = math.max(far, math.abs(simplex[i][j] - simplex[1][j])) end
    end
    return math.max(far, apart)
  end
  local iterations, reason = 0, nil
  while true do
    if not finite then reason = "not finite" break end
    table.sort(simplex, function(a, b) return a.value < b.value end)
    if spread() <= o.tol then reason = "converged" break end
    if iterations == o.maxiter then reason = "maxiter" break end
    iterations = iterations + 1
    local worst = simplex[n + 1]
    --- A point on the line from the worst vertex through the middle of the others, `factor` beyond that.
    local function along(factor)
      local x = {}
      for j = 1, n do
        local sum = 0
        for i = 1, n do sum = sum + simplex[i][j] end
        x[j] = (1 + factor) * sum / n - factor * worst[j]
      end
      return vertex(x)
    end
    local reflected = along(1)
    local found = reflected
    if reflected.value < simplex[1].value then
      local beyond = along(expand)
      if beyond.value < reflected.value then found = beyond end
    elseif reflected.value >= simplex[n].value then
      local outside = reflected.value < worst.value
      local nearer = along(outside and contract or -contract)
      found = (outside and nearer.value <= reflected.value or not outside and nearer.value < worst.value) and nearer or nil
    end
    if found then
      simplex[n + 1] = found
    else
      for i = 2, n + 1 do
        local x = {}
        for j = 1, n do x[j] = simplex[1][j] + shrink * (simplex[i][j] - simplex[1][j]) end
        simplex[i] = vertex(x)
      end
    end
    if o.callback and core.called(o.callback, of:unpack(array(simplex[1])), simplex[1].value) == true then reason = "callback" break end
  end
  local best = simplex[1]
  for _, x in ipairs(simplex) do
    if x.value < best.value or best.value ~= best.value then best = x end
  end
  return {x = array(best), value = best.value, residual = spread()}, reason, iterations
end
