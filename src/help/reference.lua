-- Reads docs/reference.md: the one parser behind help(), completion of properties, the editor's annotations and their tests.
-- Returns the function text -> reference, a table of
--   sections   list of {title, level, parent, blocks}
--   entries    list of {name, receiver, signature, section, row}: an item for each name that a heading or a table defines
--   find(name) the entry of "gpu.sum", "x:sum", "x.shape", "linalg.solve", "sum" or "curve_fit"; nil when there is none
--   section(title)
--   of_chart(line, name)  the signature of the method p:name, from that of the function gpu.plot.name
-- A block is {kind = "text" | "list" | "code" | "table"} with `text`, or `head` and `rows` of a table.

local concat, insert = table.concat, table.insert
local find, gmatch, gsub, lower, match, sub = string.find, string.gmatch, string.gsub, string.lower, string.match, string.sub

-- The receivers: what comes before the dot or colon of a name, in the reference and in signatures.
local receivers = {gpu = true, x = true, A = true, k = true, mod = true, s = true, e = true, graph = true, g = true, c = true, t = true,
  groups = true, window = true, w = true, b = true, i = true, d = true, p = true, j = true, capsule = true, device = true}

-- ---- Markdown -----------------------------------------------------------------------------------------------------------------

--- The cells of a table's line; "\|" is not a border.
local function cells_of(line)
  local cells = {}
  for cell in gmatch(gsub(line, "\\|", "\1") .. " ", "%s*|([^|]*)%f[|]") do
    cells[#cells + 1] = gsub(match(cell, "^%s*(.-)%s*$"), "\1", "|")
  end
  return cells
end

local function kind_of(line)
  if find(line, "^|") then return "table" end
  if find(line, "^%- ") then return "list" end
  return "text"
end

--- Adds a line of prose or of a table to the last block, or begins one.
local function add_line(blocks, line, after_gap)
  local last = blocks[#blocks]
  local kind = kind_of(line)
  local goes_on = last and not after_gap and (last.kind == kind or (last.kind == "list" and find(line, "^  ")))
  if kind == "table" then
    if find(line, "^|%-") or find(line, "^|[%s%-|]+$") then return end
    local cells = cells_of(line)
    if goes_on then insert(last.rows, cells) else blocks[#blocks + 1] = {kind = "table", head = cells, rows = {}} end
  elseif goes_on and kind == "list" then
    last.text = last.text .. "\n" .. line
  elseif goes_on then
    last.text = last.text .. " " .. match(line, "^%s*(.*)")
  else
    blocks[#blocks + 1] = {kind = kind, text = line}
  end
end

local function read_sections(text)
  local sections, parents = {}, {}
  local code, after_gap
  for line in gmatch(text .. "\n", "([^\n]*)\n") do
    local section = sections[#sections]
    local hashes, title = match(line, "^(##?#?#?) (.*)")
    if code then
      if line == "```" then code = nil else insert(code.lines, line) end
    elseif find(line, "^```") then
      code = {kind = "code", language = sub(line, 4), lines = {}}
      insert(section.blocks, code)
    elseif hashes then
      section = {title = title, level = #hashes, parent = parents[#hashes - 1], blocks = {}}
      insert(sections, section)
      parents[#hashes] = section
      for level = #hashes + 1, 4 do parents[level] = section end
    elseif line == "" then
      after_gap = true
    else
      add_line(section.blocks, line, after_gap)
      after_gap = false
    end
    if code or hashes then after_gap = true end
  end
  for _, section in ipairs(sections) do
    for _, block in ipairs(section.blocks) do
      if block.lines then block.text, block.lines = concat(block.lines, "\n"), nil end
    end
  end
  return sections
end

-- ---- names --------------------------------------------------------------------------------------------------------------------

--- The parts of a list that commas and semicolons separate, outside of brackets.
local function parts(list)
  local result, depth, from = {}, 0, 1
  for i = 1, #list + 1 do
    local c = sub(list, i, i)
    if find(c, "[%[({]") then depth = depth + 1 end
    if find(c, "[%])}]") then depth = depth - 1 end
    if depth == 0 and find(c, "[,;]") or c == "" then
      result[#result + 1], from = match(sub(list, from, i - 1), "^%s*(.-)%s*$"), i + 1
    end
  end
  return result
end

--- The name that a signature begins with, and what comes before its last dot or colon.
local function name_of(signature)
  local receiver, dot, last = match(signature, "^([%a][%w_.]-)([.:])([%w_]+)%f[^%w_.]")
  if receiver and receivers[match(receiver, "^%w+")] then return receiver .. dot .. last, receiver .. dot end
  receiver = match(signature, "^(%a+){")
  if receivers[receiver] then return receiver, receiver end
  if signature == "#x" or signature == "tostring(x)" then return signature, "x" end
end

local function without_marks(text) return (gsub(text, "`", "")) end

local function add_entries(entries, list, section, row, owner)
  for _, shown in ipairs(parts(without_marks(list))) do
    local signature = gsub(shown, "^.- and (%a+[.:])", "%1")
    if owner and find(signature, "^[%l_]+$") then signature = owner .. "." .. signature end
    local name, receiver = name_of(signature)
    if name then insert(entries, {name = name, receiver = receiver, signature = signature, section = section, row = row}) end
  end
end

--- A table that defines names: of functions, properties or methods. The properties of what gpu.device gives are device.name, ...
local function defines_names(block, section)
  if block.kind ~= "table" then return false end
  local first = block.head[1]
  if first == "option" or first == "variable" then return false end
  return first, first == "property" and match(section.title, "^gpu%.(%w+)%(")
end

local function read_entries(sections)
  local entries = {}
  for _, section in ipairs(sections) do
    add_entries(entries, section.level == 4 and section.title or "", section)
    for _, block in ipairs(section.blocks) do
      local named, owner = defines_names(block, section)
      if named then
        for _, row in ipairs(block.rows) do add_entries(entries, row[1], section, {head = block.head, cells = row}, owner) end
      end
    end
  end
  return entries
end

--- A paragraph, or an item of a table, that is the first to name a function which no heading or table defines.
local function mention(sections, name)
  local pattern = "%f[%w_]" .. gsub(name, "%p", "%%%0") .. "%f[^%w_]"
  for _, section in ipairs(sections) do
    for _, block in ipairs(section.blocks) do
      if (block.kind == "text" or block.kind == "list") and find(block.text, pattern) then
        return {name = name, receiver = match(name, "^(.*[.:])"), section = section, block = block}
      end
      for _, row in ipairs(block.rows or {}) do
        if find(concat(row, " "), pattern) then
          return {name = name, receiver = match(name, "^(.*[.:])"), section = section, row = {head = block.head, cells = row}}
        end
      end
    end
  end
end

--- Names under which the reference may have a method: x:exp_ is described as gpu.exp, g:normal as gpu.random.normal.
local function aliases(name)
  local receiver, last = match(name, "^(%a+):([%w_]+)$")
  local list = {}
  if receiver == "x" then
    list = {"gpu." .. last, "x:" .. gsub(last, "_$", ""), "gpu." .. gsub(last, "_$", "")}
  elseif receiver == "g" then
    list = {"gpu.random." .. last, "c:" .. last}
  elseif receiver == "p" then
    list = {"gpu.plot." .. last}
  elseif match(name, "^gpu%.[%w_]+$") then
    list = {"x:" .. sub(name, 5)}
  elseif match(name, "^[%w_]+$") then
    list = {"gpu." .. name, "x:" .. name, "x." .. name, "gpu.linalg." .. name, "gpu.fft." .. name, "gpu.random." .. name, "k:" .. name,
      "k." .. name, "mod:" .. name, "device." .. name, "s:" .. name, "e:" .. name, "t:" .. name,
      "groups:" .. name, "gpu.plot." .. name}
  elseif not receivers[match(name, "^%w*")] then
    list = {"gpu." .. name}
  end
  return list
end

return function(text)
  local sections = read_sections(text)
  local entries = read_entries(sections)
  local by_name, by_title, by_last = {}, {}, {}
  for _, entry in ipairs(entries) do
    local held = by_name[entry.name]
    -- A heading describes a function better than a row of a table.
    if not held or (held.row and not entry.row) then by_name[entry.name] = entry end
    local last = match(entry.name, "[%w_]+$")
    if last then by_last[last] = by_last[last] or entry.name end
  end
  for _, section in ipairs(sections) do
    local title = lower(section.title)
    by_title[title] = by_title[title] or section
  end

  local reference = {sections = sections, entries = entries}

  function reference.find(name)
    local names = aliases(name)
    insert(names, 1, name)
    for _, candidate in ipairs(names) do
      if by_name[candidate] then return by_name[candidate] end
    end
    for _, candidate in ipairs(names) do
      local found = find(candidate, "^gpu%.") and mention(sections, candidate)
      if found then return found end
    end
    return by_name[by_last[name]]
  end

  function reference.of_chart(line, name)
    local inside = gsub(sub(line, #"gpu.plot." + #name + 1), "^%(p,? ?", "(")
    return "p:" .. name .. gsub(inside, "^%(%[, ", "([")
  end

  function reference.section(title) return by_title[lower(title)] end

  return reference
end
