-- How a column of text becomes numbers or dates: for the errors of functions that want these. Where one field of a file made the column
-- text, the call that reads the file is named.
local _, _, core = ...

-- By the list of a column's texts: what files.lua has about its field {text, line, is_quoted}, and its name, file and separator.
local sources = setmetatable({}, {__mode = "k"})

local exports = {}

--- `has_values`: the option header = false took the file's first line for values.
function exports.remember(texts, field, name, path, sep, has_values)
  sources[texts] = {name = name, path = path, sep = sep, text = field.text, line = field.line, is_quoted = field.is_quoted,
    has_heading = has_values and field.line == 1 and not field.text:find "^[%s%d.,+-]*$"}
end

--- The name of a column as a field of a table's constructor.
local function key_of(name) return name:find "^[%a_][%w_]*$" and name or ("[%q]"):format(name) end

local function is_date(text, format)
  return (pcall(core.parse_dates, "load", {text}, format, nil, {device = "cpu"}))
end

--- The formats of dates that fit most texts, among those that fit the first one.
local function formats_of(first, texts)
  local best, most = {}, 0
  for _, format in ipairs(core.date_formats(first)) do
    local count = 0
    for _, text in ipairs(texts) do count = count + (is_date(text, format) and 1 or 0) end
    if count > most then best, most = {}, count end
    if count == most then best[#best + 1] = format end
  end
  return best
end

local function other_order(formats)
  return formats[2] and (", or %q if that is the order of day and month"):format(formats[2]) or ""
end

local function escaped(text) return (text:gsub("%p", "%%%0")) end

-- What stands between groups of digits and before decimals, in the order in which they are tried.
local styles = {{"", "."}, {",", "."}, {"", ","}, {".", ","}, {"'", "."}, {" ", "."}, {" ", ","}}

--- The text without currencies, percent signs and the unit, these, and whether it is in parentheses, which are left out too. `unit`: of
--- letters, or nil.
local function without_symbols(text, unit, symbols)
  symbols = symbols or {}
  local function take(symbol)
    if symbol ~= "" then symbols[#symbols + 1] = symbol end
    return ""
  end
  text = text:gsub("^%s*[-+]?[$€£¥\128-\255]+ ?", function(symbol)
    local sign = symbol:match "[-+]" or ""
    take((symbol:gsub("[-+%s]", "")))
    return sign
  end):gsub("%s*(%%)%s*$", take):gsub("%s*([\128-\255]+)%s*$", take):gsub("%s*(%$)%s*$", take)
  text = text:match "^%s*(.-)%s*$"
  if unit and #text > #unit and text:sub(-#unit) == unit then
    take(unit)
    text = text:sub(1, -#unit - 1):match "^(.-)%s*$"
  end
  local inside = text:match "^%((.*)%)$"
  return inside and without_symbols(inside, unit, symbols) or text, symbols, inside ~= nil
end

local function reads(text, style)
  local thousands, decimal = style[1], style[2]
  text = text:gsub("^[-+]", "")
  local whole, rest = text:match("^([^" .. escaped(decimal) .. "]*)(.*)$")
  if not rest:find("^" .. escaped(decimal) .. "%d+$") and rest ~= "" or whole == "" then return false end
  if whole:find "^%d+$" then return true end
  if thousands == "" then return false end
  local gap = escaped(thousands)
  return whole:find("^%d[%d" .. gap .. "]*$") ~= nil and whole:find("^%d%d?%d?" .. gap) ~= nil and whole:find(gap .. "%d%d%d$") ~= nil
    and not whole:find(gap .. "%d?" .. gap) and not whole:find "%d%d%d%d"
end

--- The options that read the first text and most others as numbers; nil where none do.
local function numbers_of(source, texts)
  local unit = source.text:match "%d%s*(%a[%a/]*)%s*$"
  local first, symbols = without_symbols(source.text, unit)
  local style, most, parentheses = nil, 0, false
  for _, candidate in ipairs(styles) do
    if reads(first, candidate) then
      local count, has_parentheses = 0, false
      for _, text in ipairs(texts) do
        local number, _, is_inside = without_symbols(text, unit)
        if reads(number, candidate) then count, has_parentheses = count + 1, has_parentheses or is_inside end
      end
      if count > most then style, most, parentheses = candidate, count, has_parentheses end
    end
  end
  if not style or unit and most * 2 <= #texts then return end
  local options = {parentheses and "parentheses = true" or nil}
  if style[1] ~= "" then options[#options + 1] = ("thousands = %q"):format(style[1]) end
  if style[2] ~= "." then options[#options + 1] = ("decimal = %q"):format(style[2]) end
  if style[2] == source.sep then options[#options + 1] = "sep = \";\"" end
  for i, symbol in ipairs(symbols) do symbols[i] = ("%q"):format(symbol) end
  if #symbols > 0 then options[#options + 1] = ("symbols = {%s}"):format(table.concat(symbols, ", ")) end
  if source.is_quoted and not source.text:find(source.sep, 1, true) then
    options[#options + 1] = ('dtype = {%s = "float64"}'):format(key_of(source.name))
  end
  return #options > 0 and table.concat(options, ", ") or nil
end

--- What to do about texts in a column of numbers or dates; nil if most are neither. One with a digit may be a value that is written
--- wrongly, rather than a missing one.
local function missing_of(texts)
  local odd, is_value = {}, false
  for _, text in ipairs(texts) do
    if not tonumber(text) and not is_date(text) then
      odd[#odd + 1], is_value = ("%q"):format(text), is_value or text:find "%d" ~= nil
    end
  end
  if #odd * 2 > #texts or #odd == 0 then return end
  return ("; %sgpu.load(path, {missing = {%s%s}}) %s"):format(is_value and "correct the file, or " or "",
    table.concat(odd, ", ", 1, math.min(#odd, 5)), #odd > 5 and ", ..." or "", is_value and "takes it for missing" or "reads it")
end

--- ', got column price of text, as "1,234" in line 3 of a.csv is no number', and '; gpu.load(path, {thousands = ","}) reads it'; nil
--- where nothing tells.
local function of_file(source, texts)
  if source.has_heading then
    return (", got column %s of text, as %q in line 1 of %s, which header = false takes for a value, is no number"):format(source.name, source.text,
      source.path), "; gpu.load(path) takes the first line for the names of the columns"
  end
  local options, also = numbers_of(source, texts), ""
  if not options then
    local formats = formats_of(source.text, texts)
    if #formats > 0 then options, also = ("dates = {%s = %q}"):format(key_of(source.name), formats[1]), other_order(formats) end
  end
  local is_code = not source.is_quoted and source.text:find "^%s*0%d+%s*$" ~= nil
  if is_code then options = ('dtype = {%s = "int64"}'):format(key_of(source.name)) end
  local use = options and ("; gpu.load(path, {%s}) reads it%s"):format(options, also) or missing_of(texts)
  local shown = #source.text > 40 and source.text:sub(1, 40) .. "..." or source.text
  local reason = is_code and "begins with 0, as codes do" or source.is_quoted and tonumber(source.text) and "is in quotes"
    or core.has_date_form(source.text) and not is_date(source.text) and "is a date that does not exist" or "is no number"
  if use then return (", got column %s of text, as %q in line %.0f of %s %s"):format(source.name, shown, source.line, source.path, reason), use end
end

--- The same of the first text that is not empty, whose kind all may have.
local function of_text(texts)
  local first = texts[1] == "" and texts[2] or texts[1]
  if not first then return end
  local formats = formats_of(first, texts)
  local use = tonumber(first) and "numbers stand without quotes, and tonumber(text) makes one of each text of t:values(name)"
    or is_date(first) and "gpu.dates(x) makes dates of it"
    or #formats > 0 and ("gpu.dates(x, {format = %q}) makes dates of it"):format(formats[1]) .. other_order(formats)
    or first:find "^%d%d?:%d%d" and "gpu.durations(x) makes times of it, which can be added to dates"
  if use then return ", got a column of text", "; " .. use end
end

--- What a column with these texts is, for messages, and what makes numbers or dates of it; nil where nothing tells.
function exports.advice(texts)
  local source = sources[texts]
  local what, use
  if source then what, use = of_file(source, texts) end
  if not what then return of_text(texts) end
  return what, use
end

return exports
