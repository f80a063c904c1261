-- Shows a value to people: what the REPL prints, and errors that are tables. Returns the function value -> string.
-- It runs no code of the value's but __tostring, and it ends for any value: depth, items and lengths have limits.

local getmetatable, next, pcall, rawget, tostring, type = debug.getmetatable, next, pcall, rawget, tostring, type
local concat, sort = table.concat, table.sort
local byte, find, format, gsub, match, rep, sub =
  string.byte, string.find, string.format, string.gsub, string.match, string.rep, string.sub

local max_depth = 3
local max_items = 50   -- of one table
local max_string = 200 -- bytes of a string inside of a table
local line_width = 78

local keywords = {}
for word in string.gmatch("and break do else elseif end false for function goto if in local nil not or repeat return then true "
                       .. "until while", "%a+") do
  keywords[word] = true
end

local escapes = {["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t", ["\\"] = "\\\\", ['"'] = '\\"'}

local function quote(text)
  local escaped = gsub(text, '[%c"\\]', function(c) return escapes[c] or format("\\%03d", byte(c)) end)
  return '"' .. escaped .. '"'
end

local function key_order(a, b)
  local ta, tb = type(a), type(b)
  if ta ~= tb then return ta < tb end
  if ta == "number" or ta == "string" then return a < b end
  return tostring(a) < tostring(b)
end

-- The length of the sequence at the table's start. The operator # might call __len.
local function sequence_length(t)
  local length = 0
  while rawget(t, length + 1) ~= nil do length = length + 1 end
  return length
end

-- The keys that come after the sequence 1..length; the second result says how many there are, listed or not.
local function other_keys(t, length)
  local keys, count = {}, 0
  for key in next, t do
    if not (type(key) == "number" and key >= 1 and key <= length and key % 1 == 0) then
      count = count + 1
      if count <= 4 * max_items then keys[count] = key end
    end
  end
  sort(keys, key_order)
  return keys, count
end

local render

local function render_key(key, depth, path)
  if type(key) == "string" and match(key, "^[%a_][%w_]*$") and not keywords[key] then return key end
  return "[" .. render(key, depth, path) .. "]"
end

local function render_table(t, depth, path)
  if path[t] then return "<cycle>" end
  local length = sequence_length(t)
  if depth > max_depth then return next(t) == nil and "{}" or "{...}" end
  path[t] = true
  local items = {}
  for i = 1, length < max_items and length or max_items do items[i] = render(rawget(t, i), depth + 1, path) end
  local keys, count = other_keys(t, length)
  for _, key in next, keys do
    if #items >= max_items then break end
    items[#items + 1] = render_key(key, depth + 1, path) .. " = " .. render(rawget(t, key), depth + 1, path)
  end
  if length + count > #items then items[#items + 1] = format("... (%d more)", length + count - #items) end
  path[t] = nil

  local line = "{" .. concat(items, ", ") .. "}"
  if #line + 2 * depth <= line_width and not find(line, "\n", 1, true) then return line end
  local indent = rep("  ", depth)
  return "{\n" .. indent .. concat(items, ",\n" .. indent) .. "\n" .. rep("  ", depth - 1) .. "}"
end

-- By its __tostring. If that fails inside of a table, the reason is shown there, beside the other fields.
local function shown(value, depth)
  if depth == 1 then return tostring(value) end
  local ok, text = pcall(tostring, value)
  return ok and text or "<" .. tostring(text) .. ">"
end

function render(value, depth, path)
  local kind = type(value)
  if kind == "string" then
    if depth > 1 and #value > max_string then
      return quote(sub(value, 1, max_string)) .. format("... (%d bytes)", #value)
    end
    return quote(value)
  end
  if kind ~= "table" then return shown(value, depth) end
  local meta = getmetatable(value)
  if type(meta) == "table" and rawget(meta, "__tostring") ~= nil then return shown(value, depth) end
  return render_table(value, depth, path)
end

return function(value) return render(value, 1, {}) end
