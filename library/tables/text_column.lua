-- A column of text of gpu.table: an array of positions in the sorted list of its texts. All functions of arrays refuse it, since sums
-- of positions mean nothing; it has the methods of this file, and comparisons also take a text, or another column of text.
local gpu, array_methods, core, import = ...

local exports = {}

local texts_of = setmetatable({}, {__mode = "k"})

local methods = {}

--- What errors about a column of text say: that it is one, and how it becomes numbers or dates; nil where nothing tells.
function exports.advice(x)
  local what, use = import("text_advice").advice(texts_of[x])
  return what and what .. use
end

--- The second of it: "; gpu.dates(x) makes dates of it", or "".
function exports.remedy(x) return select(2, import("text_advice").advice(texts_of[x])) or "" end

--- The positions of a column of text, or another column itself.
local function plain(x) return texts_of[x] and core.text_positions(x) or x end
exports.plain = plain

--- What a column of text is compared with: a column of text; a number where the column ought to be one of numbers is an error about it.
local function check_texts(op, x, other)
  if core.is_number(other) and exports.advice(x) then core.fail(op, "numbers", x) end
  if not texts_of[other] then core.fail(op, "a text or a column of text beside a column of text", other) end
end

--- The positions of the column's texts in another list; 0 for a text that the list lacks. `positions` has the list's, by text.
local function moved(x, positions)
  local places = {}
  for i, text in ipairs(texts_of[x]) do places[i] = positions[text] or 0 end
  return x.size == 0 and plain(x) or gpu.array(places, {dtype = "int32", device = x.device}):take(plain(x))
end

--- Refuses a text of a date beside texts of dates that are written otherwise, or whose order is not that of the dates.
local function check_order(op, x, other, needs_order)
  local texts = texts_of[x]
  local first = texts[1] == "" and texts[2] or texts[1]
  if not first or core.has_date_form(first) or #core.date_formats(first) == 0 then return end
  if core.has_date_form(other) or needs_order and #core.date_formats(other) > 0 then core.fail(op, "dates", x) end
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
      check_order(op, x, other)
      other = places_of(texts)[other] or 0
    else
      check_texts(op, x, other)
      other = plain(texts_of[other] ~= texts and moved(other, places_of(texts)) or other)
    end
    return core.as_mask(op, (array_methods[op](plain(x), other, ...)))
  end
end

--- The texts of both columns in order, and their positions.
local function merged(a, b)
  local all, seen = {}, {}
  for _, texts in ipairs {a, b} do
    for _, text in ipairs(texts) do
      if not seen[text] then all[#all + 1] = text end
      seen[text] = true
    end
  end
  table.sort(all)
  return places_of(all), all
end

--- The positions of two columns in one list of their texts, and this list.
function exports.together(x, y)
  local a, b = texts_of[x], texts_of[y]
  if a == b then return plain(x), plain(y), a end
  local positions, all = merged(a, b)
  return moved(x, positions), moved(y, positions), all
end

-- Whether text a sorts before the texts where the comparison with b changes its value.
local stands_before = {
  lt = function(a, b) return a < b end, ge = function(a, b) return a < b end,
  le = function(a, b) return a <= b end, gt = function(a, b) return a <= b end,
}

for op, before in pairs(stands_before) do
  methods[op] = function(x, other, ...)
    local texts = texts_of[x]
    if type(other) == "string" then
      check_order(op, x, other, true)
      local count = 0
      while count < #texts and before(texts[count + 1], other) do count = count + 1 end
      return core.as_mask(op, (array_methods[(op == "lt" or op == "le") and "le" or "gt"](plain(x), count, ...)))
    end
    check_texts(op, x, other)
    if texts_of[other] ~= texts then
      local positions = merged(texts, texts_of[other])
      x, other = moved(x, positions), moved(other, positions)
    end
    return core.as_mask(op, (array_methods[op](plain(x), plain(other), ...)))
  end
end

--- x:max() and x:min(): a text.
for _, op in ipairs {"max", "min"} do
  methods[op] = function(x, ...)
    if select("#", ...) > 0 then return (array_methods[op](x, ...)) end -- which refuses the column
    return texts_of[x][array_methods[op](plain(x)):item()]
  end
end

--- x:sort(...): a column of text.
function methods.sort(x, ...)
  local sorted = array_methods.sort(plain(x), ...)
  exports.make(sorted, texts_of[x])
  return sorted
end

--- x:unique(...): a column of text, and what the options ask for.
function methods.unique(x, ...)
  local results = {gpu.unique(plain(x), ...)}
  exports.make(results[1], texts_of[x])
  return unpack(results)
end

--- x:isin(texts, ...): a text, a table of texts, or a column of text.
function methods.isin(x, values, ...)
  if type(values) == "string" then values = {values} end
  local places, wanted = places_of(texts_of[x]), {}
  if texts_of[values] then
    wanted = plain(moved(values, places))
  else
    if type(values) ~= "table" then core.fail("isin", "a text, a table of texts or a column of text", values) end
    core.check_list("isin", "texts", values)
    for i, text in ipairs(values) do
      if type(text) ~= "string" then core.fail("isin", "a text, a table of texts or a column of text", text) end
      check_order("isin", x, text)
      wanted[i] = places[text] or 0
    end
    wanted = gpu.array(wanted, {dtype = "int32", device = x.device})
  end
  return (gpu.isin(plain(x), wanted, ...))
end

--- What an index or a method selects: a text of one element, a column of text of several; another value as it is.
local function selected(x, found)
  if not core.is_array(found) then return found end
  if found.ndim == 0 then return texts_of[x][found:item()] end
  exports.make(found, texts_of[x])
  return found
end

for _, name in ipairs {"year", "quarter", "month", "day", "yearday", "weekday", "hour", "minute", "second", "nanosecond", "floor", "number", "as", "format"} do
  methods[name] = function(x)
    if exports.advice(x) then core.fail(name, "dates", x) end
    core.raise(("[%s] expected dates, got a column of text; gpu.dates(x) makes dates of it"):format(name))
  end
end

function methods.take(x, ...) return selected(x, array_methods.take(plain(x), ...)) end
function methods.item(x) return texts_of[x][array_methods.item(plain(x))] end

-- The first three give places in the column.
import "stored_methods"(methods, plain, {"argmax", "argmin", "argsort", "copy", "host", "table"})

local meta
local function make_meta(arrays)
  meta = {}
  for event, handler in pairs(arrays) do meta[event] = handler end
  function meta.__index(x, key)
    if methods[key] then return methods[key] end
    local found = arrays.__index(plain(x), key)
    if type(key) ~= "string" and type(found) == "number" then return texts_of[x][found] end
    return selected(x, found)
  end
  function meta.__call(x, ...) return selected(x, arrays.__call(plain(x), ...)) end
  function meta.__len(x) return (arrays.__len(plain(x))) end
  function meta.__newindex(x) core.fail("index", "an array to write to", x) end
  function meta.__concat()
    core.raise "[..] expected strings or numbers, got a column of text; t:values(name) is a list of its texts, and t.name = list a column"
  end
  meta.advice = exports.advice
  function meta.__tostring(x)
    return import("table_text").column_text(x, texts_of[x])
  end
end

--- Makes a column of text of an array.
function exports.make(x, texts)
  if not texts_of[x] then
    if not meta then make_meta(core.array_metatable(x)) end
    core.text_column(x, meta)
  end
  texts_of[x] = texts
end

--- The texts of a column of text; nil for another value.
function exports.texts_of(x) return texts_of[x] end

--- The values of a column as a Lua table. `texts`: those of a column of text.
function exports.values_of(x, texts)
  local values = x:table()
  for i = 1, texts and #values or 0 do values[i] = texts[values[i]] end
  return values
end

return exports
