-- gpu.print_options and gpu.progress: what people see on a terminal.
-- In sandboxes: print_options
local gpu, _, core, import = ...
local checks, records = import "checks", import "records"

local exports = {}

--- How many characters a text in UTF-8 has.
function exports.text_length(text) return select(2, text:gsub("[^\128-\191]", "")) end

-- ---- how arrays are shown -------------------------------------------------------------------------------------------------------

-- The least and greatest value of each option.
local limits = {precision = {1, 17}, edge = {1, 1e6}, threshold = {0, 2 ^ 53}, width = {20, 1e6}}

--- gpu.print_options([{precision, edge, threshold, width}])
--- Sets what is given, and gives what holds.
function gpu.print_options(options)
  options = checks.fields("print_options", options)
  if next(options) then checks.mode_change "print_options" end
  for name, value in pairs(options) do
    local least, most = limits[name][1], limits[name][2]
    local fits = type(value) == "number" and value >= least and value <= most and value % 1 == 0
    if not fits and not (name == "width" and value == "terminal") then
      core.fail("print_options", ("%s = an integer from %.0f to %.0f%s"):format(name, least, most,
        name == "width" and ', or "terminal"' or ""), value)
    end
  end
  local precision, edge, threshold, width = core.printing()
  precision, edge = options.precision or precision, options.edge or edge
  threshold, width = options.threshold or threshold, options.width or width
  if width == "terminal" then width = 0 end
  core.set_printing(precision, edge, threshold, width)
  local now = {precision = precision, edge = edge, threshold = threshold, width = width == 0 and "terminal" or width}
  return records.seal(now, "print_options")
end

-- ---- how far a loop has come ----------------------------------------------------------------------------------------------------

local between = 100 -- milliseconds from one line to the next

local function duration(ms)
  local s = ms / 1e3
  if s < 60 then return ("%.1f s"):format(s) end
  if s < 3600 then return ("%d min %02d s"):format(s / 60, s % 60) end
  return ("%d h %02d min"):format(s / 3600, s / 60 % 60)
end

--- The line of a loop that has done `done` of `n` in that time.
function exports.progress_line(label, done, n, ms)
  local name = label and label .. ": " or ""
  local rate = ms > 0 and ("%.4g/s"):format(done / ms * 1e3) or "-"
  if done == n then return ("%s%.0f in %s, %s"):format(name, n, duration(ms), rate) end
  return ("%s%.0f%%, %.0f of %.0f, %s, %s left"):format(name, done / n * 100, done, n, rate, duration(ms / done * (n - done)))
end

--- gpu.progress(n [, label])
--- gpu.progress(n [, label]): for i in gpu.progress(n) is for i = 1, n, with a line about it on a terminal.
function gpu.progress(n, label)
  if type(n) ~= "number" or not (n >= 0 and n % 1 == 0) then core.fail("progress", "a number of steps, an integer of 0 or more", n) end
  if label ~= nil and type(label) ~= "string" then core.fail("progress", "a label, a string", label) end
  local i, clock = 0, gpu.clock
  if n == 0 or not core.shows_progress() then
    return function()
      i = i + 1
      if i <= n then return i end
    end
  end
  -- The clock is read every `stride` steps, which adapts to steps of any length.
  local start = clock()
  local shown, look, stride = start, 1, 1
  --- Leaves the cursor at the line's start: whatever else is printed, an error too, begins there.
  local function show(now, ending)
    io.stderr:write("\27[K", exports.progress_line(label, i, n, now - start):sub(1, core.terminal_width() - 1), ending)
    io.stderr:flush()
  end
  return function()
    if i >= look then
      local now = clock()
      if i == n then
        show(now, "\n")
        return nil
      end
      stride = math.max(1, math.floor(math.min(2 * stride, i / (now - start) * between / 4)))
      look = math.min(i + stride, n)
      if now - shown >= between then
        shown = now
        show(now, "\r")
      end
    end
    i = i + 1
    return i
  end
end

return exports
