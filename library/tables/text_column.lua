-- A column of text of gpu.table: an array of positions in the sorted list of its texts. Arithmetic refuses it, since sums of positions
-- mean nothing; comparisons also take a text, or another column of text.
local gpu, array_methods, core = ...

local texts_of = setmetatable({}, {__mode = "k"})

local methods = {}

--- The positions of the column's texts in another list; 0 for a text that the list lacks. `positions` has the list's, by text.
local function moved(x, positions)
  local places = {}
  for i, text in ipairs(texts_of[x]) do places[i] = positions[text] or 0 end
  return x.size == 0 and x or gpu.array(places, {dtype = "int32", device = x.device}):take(x)
end

local function places_of(texts)
  local positions = {}
  for i, text in ipairs(texts) do positions[text] = i end
  return positions
end

for _, op in ipairs {"eq", "ne"} do
  methods[op] = function(x, other, ...)
    local texts = texts_of[x]
    if type(other) == "string" then
      other = places_of(texts)[other] or 0
    elseif texts_of[other] and texts_of[other] ~= texts then
      other = moved(other, places_of(texts))
    end
    return (array_methods[op](x, other, ...))
  end
end

--- The texts of both columns in order, and their places.
local function merged(a, b)
  local all, seen = {}, {}
  for _, texts in ipairs {a, b} do
    for _, text in ipairs(texts) do
      if not seen[text] then all[#all + 1] = text end
      seen[text] = true
    end
  end
  table.sort(all)
  return places_of(all)
end

-- Whether a text stands before the places that the comparison with another one is true for, or else false.
local stands_before = {
  lt = function(a, b) return a < b end, ge = function(a, b) return a < b end,
  le = function(a, b) return a <= b end, gt = function(a, b) return a <= b end,
}

for op, before in pairs(stands_before) do
  methods[op] = function(x, other, ...)
    local texts = texts_of[x]
    if type(other) == "string" then
      local count = 0
      while count < #texts and before(texts[count + 1], other) do count = count + 1 end
      return (array_methods[(op == "lt" or op == "le") and "le" or "gt"](x, count, ...))
    elseif texts_of[other] and texts_of[other] ~= texts then
      local positions = merged(texts, texts_of[other])
      return (array_methods[op](moved(x, positions), moved(other, positions), ...))
    end
    return (array_methods[op](x, other, ...))
  end
end

local refusal = "expected numbers, got a column of text, whose elements are positions in its t:texts(name); t:where(name, text) and "
  .. "t:isin(name, text) select rows, and x:copy() gives the positions"

local meta
local function make_meta(plain)
  meta = {refusal = refusal} -- which refuse_text of lua_array.cpp raises
  for event, handler in pairs(plain) do meta[event] = handler end
  local index = plain.__index
  function meta.__index(x, key) return methods[key] or (index(x, key)) end
  function meta.__tostring(x)
    core.load "table_text.lua"
    return core.column_text(x, texts_of[x])
  end
end

--- Makes a column of text of an array.
function core.make_text_column(x, texts)
  if not meta then make_meta(core.array_metatable(x)) end
  core.set_array_metatable(x, meta)
  texts_of[x] = texts
end

--- The texts of a column of text; nil for another value.
function core.texts_of_column(x) return texts_of[x] end

--- The values of a column as a Lua table. `texts`: those of a column of text.
function core.values_of_column(x, texts)
  local values = x:table()
  for i = 1, texts and #values or 0 do values[i] = texts[values[i]] end
  return values
end
