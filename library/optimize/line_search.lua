-- Steps along a direction: J. Nocedal and S. J. Wright, "Numerical Optimization", algorithms 3.5 and 3.6 for the strong conditions of
-- Wolfe, with cubic interpolation. Where the function changes by rounding errors alone, its slopes decide (W. W. Hager and H. Zhang,
-- 2005). Each tried step is a table: t, its length; value and slope; `predicted`, the change by the slope at the start.
local _, _, _, import = ...
local is_finite = import("numbers").is_finite

local searches = {}

local decrease, curvature = 1e-4, 0.9
local most_tries = 40

local function is_good(trial) return is_finite(trial.value) and is_finite(trial.slope) and is_finite(trial.residual) end

--- Where the cubic polynomial with the values and slopes of two tries is least; the middle where that is near an end.
local function between(a, b)
  local t = (a.t + b.t) / 2
  if not is_good(b) then return t end
  local d1 = a.slope + b.slope - 3 * (a.value - b.value) / (a.t - b.t)
  local square = d1 * d1 - a.slope * b.slope
  if not (square >= 0) then return t end
  local d2 = math.sqrt(square) * (b.t > a.t and 1 or -1)
  local least = b.t - (b.t - a.t) * (b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2)
  local margin = 0.1 * math.abs(b.t - a.t)
  return least >= math.min(a.t, b.t) + margin and least <= math.max(a.t, b.t) - margin and least or t
end

--- The step that meets Wolfe's conditions, or the best that lessens the value; nothing where there is none. `slack`: the rounding
--- errors of the value.
function searches.wolfe(try, value, first, slack)
  local slope
  local function is_lower(trial) return is_good(trial) and trial.value <= value + decrease * trial.t * slope end
  local function is_accepted(trial)
    return is_good(trial) and (is_lower(trial) or trial.value <= value + slack) and math.abs(trial.slope) <= -curvature * slope
  end
  local low, high, t = nil, nil, first
  for _ = 1, most_tries do
    local trial = try(t)
    slope = slope or trial.predicted / t
    if not (slope < 0) then return nil end
    low = low or {t = 0, value = value, slope = slope, residual = 0}
    if is_accepted(trial) then return trial end
    if not is_lower(trial) or trial.value >= low.value then
      high = trial
    else
      if high and trial.slope * (high.t - low.t) >= 0 or not high and trial.slope >= 0 then high = low end
      low = trial
    end
    if high and math.abs(high.t - low.t) <= 1e-14 * math.max(high.t, low.t) then break end
    t = high and between(low, high) or 4 * t
    if not is_finite(t) then break end
  end
  return low.t > 0 and low or nil
end

--- The first step, of ever shorter ones, that lessens the value by a part of what the slope predicts: Armijo's condition, for steps
--- that are bent by bounds.
function searches.armijo(try, value, first, slack)
  local t = first
  for _ = 1, most_tries do
    local trial = try(t)
    if not (trial.predicted < 0) then return nil end
    local most = -trial.predicted <= slack and value or value + decrease * trial.predicted
    if is_good(trial) and trial.value <= most then return trial end
    local least = -trial.predicted * t / (2 * (trial.value - value - trial.predicted))
    t = least >= 0.1 * t and least <= 0.5 * t and least or (is_good(trial) and 0.5 or 0.1) * t
  end
end

return searches
