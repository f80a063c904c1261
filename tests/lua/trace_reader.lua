-- Reads a trace: all of JSON, and the rules of the Trace Event Format that viewers rely on.
local reader = {}

-- ---- JSON -----------------------------------------------------------------------------------------------------------------------

local escapes = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t", ['"'] = '"', ["\\"] = "\\", ["/"] = "/" }

local function utf8(code)
  if code < 0x80 then return string.char(code) end
  if code < 0x800 then return string.char(0xc0 + math.floor(code / 64), 0x80 + code % 64) end
  return string.char(0xe0 + math.floor(code / 4096), 0x80 + math.floor(code / 64) % 64, 0x80 + code % 64)
end

--- The value that a text in JSON has. Fails for any other text.
function reader.json(text)
  local at = 1
  local value
  local function skip() at = text:find("[^ \t\r\n]", at) or #text + 1 end
  local function fail(what) error(("%s at byte %d: %s"):format(what, at, text:sub(at, at + 40)), 0) end
  local function expect(c)
    skip()
    if text:sub(at, at) ~= c then fail("expected " .. c) end
    at = at + 1
  end
  local function accept(c)
    skip()
    if text:sub(at, at) ~= c then return false end
    at = at + 1
    return true
  end
  local function read_string()
    expect '"'
    local parts = {}
    while true do
      local stop = text:find('["\\%c]', at) or fail "a string without end"
      parts[#parts + 1] = text:sub(at, stop - 1)
      local c = text:sub(stop, stop)
      at = stop + 1
      if c == '"' then return table.concat(parts) end
      if c ~= "\\" then fail "a control character in a string" end
      local escape = text:sub(at, at)
      at = at + 1
      if escape == "u" then
        parts[#parts + 1] = utf8(tonumber(text:match("^%x%x%x%x", at) or fail "a bad escape", 16))
        at = at + 4
      else
        parts[#parts + 1] = escapes[escape] or fail "a bad escape"
      end
    end
  end
  function value()
    skip()
    local c = text:sub(at, at)
    local result = {}
    if c == '"' then return read_string() end
    if accept "{" then
      if accept "}" then return result end
      repeat
        skip()
        local key = read_string()
        expect ":"
        if result[key] ~= nil then fail("the member " .. key .. " twice") end
        result[key] = value()
      until not accept ","
      expect "}"
      return result
    end
    if accept "[" then
      if accept "]" then return result end
      repeat result[#result + 1] = value() until not accept ","
      expect "]"
      return result
    end
    for word, meaning in pairs { ["true"] = true, ["false"] = false } do
      if text:sub(at, at + #word - 1) == word then
        at = at + #word
        return meaning
      end
    end
    local number = text:match("^-?%d+%.?%d*[eE]?[+-]?%d*", at) or fail "no value"
    at = at + #number
    return tonumber(number)
  end
  local result = value()
  skip()
  if at <= #text then fail "more text" end
  return result
end

--- Whether all of the text is UTF-8.
function reader.is_utf8(text)
  local rest = text:gsub("[%z\1-\127]", ""):gsub("[\194-\223][\128-\191]", ""):gsub("[\224-\239][\128-\191][\128-\191]", "")
  return rest:gsub("[\240-\244][\128-\191][\128-\191][\128-\191]", "") == ""
end

-- ---- the Trace Event Format -----------------------------------------------------------------------------------------------------

local function is_text(value) return type(value) == "string" end
local function is_number(value) return type(value) == "number" end
local function is_table(value) return type(value) == "table" end
-- Perfetto takes no other texts.
local function is_id(value) return is_text(value) and value:find "^0x%x+$" ~= nil end

-- The members of each phase, besides ph, pid, tid and name.
local members = {
  X = { ts = is_number, dur = is_number, cat = is_text, args = is_table },
  s = { ts = is_number, cat = is_text, id = is_id },
  f = { ts = is_number, cat = is_text, id = is_id, bp = is_text },
  i = { ts = is_number, cat = is_text, s = is_text },
  M = { args = is_table },
}

local function check_event(event)
  local expected = assert(members[event.ph], "an unknown phase " .. tostring(event.ph))
  assert(is_text(event.name) and is_number(event.pid) and is_number(event.tid))
  for name, is_right in pairs(expected) do assert(is_right(event[name]), event.ph .. " without " .. name) end
  assert(not event.dur or event.dur >= 0, "a duration below 0")
end

--- Slices of a track nest or do not overlap. Times have three decimals, and sums of them the error of a double.
local function check_track(slices, name)
  local stack = {}
  for _, slice in ipairs(slices) do
    while #stack > 0 and stack[#stack] <= slice.ts + 1e-4 do stack[#stack] = nil end
    local ends = slice.ts + slice.dur
    assert(#stack == 0 or ends <= stack[#stack] + 1e-4, ("%s: %s overlaps what is around it"):format(name, slice.name))
    stack[#stack + 1] = ends
  end
end

--- The events of a trace's file, with: slices, all of phase X; threads and processes, the names by pid and tid; clock_error, by how many
--- microseconds a device's clock can be off the host's, as others may use the device. Fails for a file that
--- breaks a rule of the format.
function reader.read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "*a"
  file:close()
  assert(reader.is_utf8(text), "no UTF-8")
  local trace = { events = reader.json(text).traceEvents, slices = {}, threads = {}, processes = {}, text = text,
    clock_error = 100 }
  local tracks, flows = {}, {}
  for _, event in ipairs(trace.events) do
    check_event(event)
    local track = event.pid .. "." .. event.tid
    if event.ph == "X" then
      table.insert(trace.slices, event)
      tracks[track] = tracks[track] or {}
      table.insert(tracks[track], event)
    elseif event.name == "thread_name" then
      trace.threads[track] = event.args.name
      trace.clock_error = math.max(trace.clock_error, 2 * (event.args.clock_uncertainty_us or 0))
    elseif event.name == "process_name" then
      trace.processes[event.pid] = event.args.name
    elseif event.ph == "s" or event.ph == "f" then
      local flow = flows[event.id] or {}
      assert(not flow[event.ph], "a flow has two events " .. event.ph)
      flow[event.ph], flows[event.id] = event, flow
    end
  end
  for track, slices in pairs(tracks) do
    assert(trace.threads[track], "a track without a name")
    check_track(slices, trace.threads[track])
  end
  for id, flow in pairs(flows) do
    assert(flow.s and flow.f and flow.s.ts <= flow.f.ts + trace.clock_error, "the flow " .. id .. " goes back")
  end
  return trace
end

--- The slices of a category, with that name if it is given.
function reader.slices(trace, category, name)
  local found = {}
  for _, slice in ipairs(trace.slices) do
    if slice.cat == category and (not name or slice.name == name) then found[#found + 1] = slice end
  end
  return found
end

--- The name of the track that a slice is on.
function reader.track(trace, slice) return trace.threads[slice.pid .. "." .. slice.tid] end

return reader
