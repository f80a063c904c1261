-- A column of text of gpu.table: an array of positions in the list of its texts. Arithmetic refuses it, since sums of positions
-- mean nothing; eq and ne also take a text, or another column of text.
local gpu, array_methods, core = ...

local texts_of = setmetatable({}, {__mode = "k"})

local methods = {}
for _, op in ipairs {"eq", "ne"} do
  methods[op] = function(x, other, ...)
    local texts = texts_of[x]
    local positions = {}
    for i, text in ipairs(texts) do positions[text] = i end
    if type(other) == "string" then
      other = positions[other] or 0
    elseif texts_of[other] and texts_of[other] ~= texts and other.size > 0 then
      local mine = {}
      for i, text in ipairs(texts_of[other]) do mine[i] = positions[text] or 0 end
      other = gpu.array(mine, {dtype = "int32", device = x.device}):take(other)
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
end

--- Makes a column of text of an array.
function core.make_text_column(x, texts)
  if not meta then make_meta(core.array_metatable(x)) end
  core.set_array_metatable(x, meta)
  texts_of[x] = texts
end

--- The texts of a column of text; nil for another value.
function core.texts_of_column(x) return texts_of[x] end
