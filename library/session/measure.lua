-- gpu.benchmark, gpu.profile, gpu.clock, gpu.time and gpu.timer: time measurement.
-- In sandboxes: all
local gpu, _, core, import = ...
local checks, records = import "checks", import "records"

local exports = {}
local ffi = require "ffi"

-- A private name for the C function leaves the original name to scripts. Another state of the process can have declared both.
pcall(ffi.cdef, [[
  typedef struct { long seconds, nanoseconds; } gpulua_time;
  int gpulua_clock_gettime(int clock, gpulua_time* time) __asm__("clock_gettime");
]])
local time = ffi.new "gpulua_time"
local realtime, monotonic = 0, 1

local function now()
  ffi.C.gpulua_clock_gettime(monotonic, time)
  return tonumber(time.seconds) * 1e3 + tonumber(time.nanoseconds) * 1e-6
end

--- gpu.clock()
--- Wall-clock milliseconds. Only differences are meaningful.
gpu.clock = now

--- gpu.time()
--- Seconds since the beginning of 1970.
function gpu.time()
  ffi.C.gpulua_clock_gettime(realtime, time)
  return tonumber(time.seconds) + tonumber(time.nanoseconds) * 1e-9
end

--- gpu.timer()
--- A function that gives the wall-clock milliseconds since this call. Both wait for the devices' work.
function gpu.timer()
  gpu.sync()
  local start = now()
  return function()
    gpu.sync()
    return now() - start
  end
end

-- ---- tables for notebooks -------------------------------------------------------------------------------------------------------

local entities = {["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;"}

function exports.html_text(text) return (text:gsub("[&<>]", entities)) end

local first_is_left = {true}

--- Rows of texts as HTML; the first row has the titles. The columns of `is_left`, without it the first, are left-aligned.
function exports.html_table(rows, is_left)
  is_left = is_left or first_is_left
  local lines = {}
  for i, row in ipairs(rows) do
    local cells = {}
    for j, text in ipairs(row) do
      local tag = i == 1 and "th" or "td"
      cells[j] = ('<%s style="text-align:%s">%s</%s>'):format(tag, is_left[j] and "left" or "right", exports.html_text(text), tag)
    end
    lines[i] = "<tr>" .. table.concat(cells) .. "</tr>"
  end
  return "<table>" .. table.concat(lines, "\n") .. "</table>"
end

-- ---- benchmark ------------------------------------------------------------------------------------------------------------------

local function summary(times)
  table.sort(times)
  local function at(fraction) return times[math.floor((#times - 1) * fraction + 0.5) + 1] end
  return records.seal({ median = at(0.5), best = times[1], spread = at(0.75) - at(0.25) }, "benchmark")
end

local benchmark = records.type("benchmark", nil, {__metatable = "times"})
function benchmark.__tostring(result)
  local function text(name, part) return ("%s %.4g ms (best %.4g, spread %.2g)"):format(name, part.median, part.best, part.spread) end
  return ("%s, %s, %d repeats"):format(text("host", result.host), text("device", result.device), result.repeats)
end

function benchmark.__display(result)
  local rows = {{("%d repeats"):format(result.repeats), "median ms", "best ms", "spread ms"}}
  for _, name in ipairs {"host", "device"} do
    local part = result[name]
    rows[#rows + 1] = {name, ("%.4g"):format(part.median), ("%.4g"):format(part.best), ("%.2g"):format(part.spread)}
  end
  return {["text/html"] = exports.html_table(rows)}
end

local function repeats_of(options)
  local repeats = checks.fields("benchmark", options).repeats
  if repeats ~= nil and (type(repeats) ~= "number" or repeats < 1 or repeats % 1 ~= 0) then
    core.fail("benchmark", "repeats = an integer of 1 or more", repeats)
  end
  return repeats
end

--- gpu.benchmark(fn [, {repeats}])
--- Runs fn repeatedly, waits after each run, and returns statistics of the times.
function gpu.benchmark(fn, options)
  checks.lua_function("benchmark", "a function to run", fn)
  local repeats = repeats_of(options)
  local first, last = gpu.event(), gpu.event()
  local function run() core.evaluate(fn()) end
  for _ = 1, 2 do run() end
  gpu.sync()
  local host, device, begin = {}, {}, now()
  repeat
    local start = now()
    first:record()
    run()
    last:record()
    gpu.sync()
    host[#host + 1] = now() - start
    device[#device + 1] = first:elapsed(last)
    local settled = #host >= 5 and (now() - begin > 500 or #host >= 1000)
  until repeats and #host >= repeats or not repeats and settled
  return setmetatable({ host = summary(host), device = summary(device), repeats = #host }, benchmark)
end

-- ---- profile --------------------------------------------------------------------------------------------------------------------

--- The rows as texts, below the titles.
local function profile_cells(rows)
  local cells = { { "kernel", "launches", "device ms", "MB", "GB/s", "compile ms" } }
  for _, row in ipairs(rows) do
    local known = row.bytes > 0
    cells[#cells + 1] = { row.name, ("%d"):format(row.launches), ("%.4f"):format(row.time),
      known and ("%.1f"):format(row.bytes / 1e6) or "-", known and ("%.0f"):format(row.bandwidth) or "-",
      row.compilation > 0 and ("%.1f"):format(row.compilation) or "-" }
  end
  return cells
end

local profile, profile_row = records.list_type("profile", "time", {__metatable = "a profile"}), records.type "profile"
function profile.__tostring(rows)
  local lines = {}
  for i, cells in ipairs(profile_cells(rows)) do lines[i] = ("%-40s %8s %12s %10s %8s %11s"):format(unpack(cells)) end
  return table.concat(lines, "\n")
end

function profile.__display(rows) return { ["text/html"] = exports.html_table(profile_cells(rows)) } end

--- gpu.profile(fn, ...)
--- The kernels that fn(...) ran on the current device, by descending time. Errors of fn are passed on.
function gpu.profile(fn, ...)
  checks.lua_function("profile", "a function to run", fn)
  local device = core.start_profile()
  local function finish(ok, ...)
    if ok then core.evaluate(...) end
    local rows = core.finish_profile(device)
    if not ok then error((...), 0) end
    return records.seal_list(rows, profile, profile_row)
  end
  return finish(core.protected(fn, ...))
end

--- The report of Config::profile as text: a table for each device that ran a kernel.
function exports.profile_report()
  local devices = { core.finish_profiles() }
  local tables = {}
  for i = 1, #devices, 2 do
    if #devices[i + 1] > 0 then tables[#tables + 1] = devices[i] .. ":\n" .. profile.__tostring(devices[i + 1]) end
  end
  return table.concat(tables, "\n")
end

return exports
