-- The axes of a chart: their ranges, and where their ticks stand. The renderers share them.
local _, _, _, import = ...
local dates = import "plot_dates"

local exports = {}

local floor, min, max, log10 = math.floor, math.min, math.max, math.log10

local function is_finite(value) return value - value == 0 end

-- ---- what layers reach ----------------------------------------------------------------------------------------------------------

local function each_corner(layer, fn)
  local xs, ys = layer.xs, layer.ys
  fn(xs[1], ys[1])
  fn(xs[#xs], ys[#ys])
end

-- Calls fn(x, y) with the points that a layer reaches; nil: no place on that axis.
local reach = {segments = each_corner, filled = each_corner, surface = each_corner}

function reach.image(layer, fn)
  fn(layer.extent[1], layer.extent[3])
  fn(layer.extent[2], layer.extent[4])
end

function reach.bars(layer, fn)
  for i, height in ipairs(layer.y) do
    fn(layer.left[i], 0)
    fn(layer.right[i], height)
  end
end

function reach.boxes(layer, fn)
  for i, x in ipairs(layer.x) do
    fn(x - layer.half, layer.low[i])
    fn(x + layer.half, layer.high[i])
  end
  for i, y in ipairs(layer.outlier_y) do fn(layer.outlier_x[i], y) end
end

function reach.rule(layer, fn)
  for _, at in ipairs {layer.from, layer.to} do fn(layer.across == "x" and at or nil, layer.across == "y" and at or nil) end
end

function reach.note(layer, fn)
  fn(layer.x, layer.y)
  if layer.at then fn(layer.at[1], layer.at[2]) end
end

function exports.each_point(layer, fn)
  local of_kind = reach[layer.kind]
  if of_kind then return of_kind(layer, fn) end
  for i, x in ipairs(layer.x) do
    fn(x, (layer.low or layer.y)[i])
    fn(x, (layer.high or layer.y)[i])
  end
end

--- Whether a layer ends at the value, so that the axis has no margin there: the foot of bars, the edge of a picture.
local function ends_at(layer, name, value)
  local kind = layer.kind
  if kind == "bars" then return name ~= "x" and value == 0 end
  if kind ~= "image" and kind ~= "filled" and kind ~= "segments" and kind ~= "surface" then return false end
  local found = false
  exports.each_point(layer, function(x, y)
    if name == "x" then y = x end
    found = found or y == value
  end)
  return found
end

-- ---- ranges ---------------------------------------------------------------------------------------------------------------------

--- {low, high, from, to, log, dates, place}: `from` and `to` are its ends, of a logarithmic axis their logarithms; place(value) is 0 at
--- the axis' beginning and 1 at its end. `margin`: beyond the data at both ends, a share of their range. `low` is above `high` on an axis
--- that runs backwards.
local function axis_of(layers, options, name, margin)
  local is_log = (options.log or ""):find(name) ~= nil
  local low, high, limits = math.huge, -math.huge, options[name .. "lim"]
  for _, layer in ipairs(layers) do
    exports.each_point(layer, function(x, y)
      local value = y
      if name == "x" then value = x end
      if value and is_finite(value) and (value > 0 or not is_log) then low, high = min(low, value), max(high, value) end
    end)
  end
  if limits then
    low, high = limits[1], limits[2]
  elseif low > high then
    low, high = is_log and 1 or 0, is_log and 10 or 1
  end
  if low == high then
    low, high = is_log and low / 2 or low - max(0.5, math.abs(low) * 1e-6), is_log and high * 2 or high + max(0.5, math.abs(high) * 1e-6)
  elseif not limits then
    local function margin_at(value)
      for _, layer in ipairs(layers) do
        if ends_at(layer, name, value) then return 0 end
      end
      return margin
    end
    local below, above = margin_at(low), margin_at(high)
    local from, to = is_log and log10(low) or low, is_log and log10(high) or high
    local span = to - from
    if below > 0 then low = is_log and 10 ^ (from - below * span) or from - below * span end
    if above > 0 then high = is_log and 10 ^ (to + above * span) or to + above * span end
  end
  local axis = {low = low, high = high, log = is_log, dates = name == "x" and options.dates}
  local up = true
  for _, layer in ipairs(layers) do up = up and not layer.downward end
  if name == "y" and not up and not limits then axis.low, axis.high = high, low end
  local from, to = is_log and log10(axis.low) or axis.low, is_log and log10(axis.high) or axis.high
  axis.from, axis.to = from, to
  function axis.place(value)
    if is_log then value = value > 0 and log10(value) or 0 / 0 end
    return (value - from) / (to - from)
  end
  return axis
end

--- The axes x, y and, where a layer is on it, y2 of a chart.
function exports.of(p, margin)
  local options, layers = rawget(p, "options"), rawget(p, "layers")
  local left, right = {}, {}
  for _, layer in ipairs(layers) do
    local side = layer.axis == "right" and right or left
    side[#side + 1] = layer
  end
  return {x = axis_of(layers, options, "x", margin), y = axis_of(#left > 0 and left or right, options, "y", margin),
    y2 = #right > 0 and axis_of(right, options, "y2", margin) or nil}
end

-- ---- ticks ----------------------------------------------------------------------------------------------------------------------

local digits = {"¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹", [0] = "⁰", ["-"] = "⁻"}

local function power_of_ten(exponent)
  return "10" .. ("%d"):format(exponent):gsub(".", function(c) return digits[tonumber(c) or c] end)
end

--- "12,500" or "0.25", with the decimals that `step` needs.
local function plain_text(value, step)
  local decimals = max(0, -floor(log10(step) + 1e-9))
  local sign, whole, rest = ("%%.%df"):format(decimals):format(value):match "^(-?)(%d+)(.*)$"
  if #whole > 4 then whole = whole:reverse():gsub("(%d%d%d)", "%1,"):reverse():gsub("^,", "") end
  return sign .. whole .. rest
end

--- The text of a tick at a multiple of the step. The numbers of an axis up to `largest` have one form: 12,500 or 3×10⁹.
local function number_text(value, step, largest)
  if value == 0 then return "0" end
  if largest < 1e8 and largest >= 1e-3 then return plain_text(value, step) end
  local exponent = floor(log10(largest) + 1e-9)
  return plain_text(value / 10 ^ exponent, step / 10 ^ exponent) .. "×" .. power_of_ten(exponent)
end

local function linear_ticks(low, high, most)
  local step = dates.nice_step((high - low) / most)
  local first, last, ticks = math.ceil(low / step - 1e-9), floor(high / step + 1e-9), {}
  for i = first, last do ticks[#ticks + 1] = {i * step, number_text(i * step, step, max(math.abs(first), math.abs(last)) * step)} end
  return ticks
end

local function log_ticks(low, high, most)
  local first, last = math.ceil(log10(low) - 1e-9), floor(log10(high) + 1e-9)
  if last - first < 1 then return linear_ticks(low, high, most) end
  local stride = math.ceil((last - first + 1) / most)
  local is_plain, ticks = first >= -3 and last <= 5, {}
  for exponent = first - 1, last do
    local value = 10 ^ exponent
    if exponent >= first then
      local is_major = (exponent - first) % stride == 0
      ticks[#ticks + 1] = {value, is_major and (is_plain and plain_text(value, value) or power_of_ten(exponent)) or ""}
    end
    for factor = 2, stride == 1 and 9 or 1 do
      if factor * value >= low and factor * value <= high then ticks[#ticks + 1] = {factor * value, ""} end
    end
  end
  return ticks
end

--- {{value, text}, ...} of an axis, about `count` with a text, a third more at most.
function exports.ticks(axis, count)
  local low, high = min(axis.low, axis.high), max(axis.low, axis.high)
  return (axis.dates and high - low > 2 and dates.ticks or axis.log and log_ticks or linear_ticks)(low, high, 4 / 3 * max(count, 2))
end

--- The text of an end of an axis.
function exports.text(axis, value)
  if not axis.dates then return ("%.4g"):format(value) end
  return dates.text(value, math.abs(axis.high - axis.low))
end

return exports
