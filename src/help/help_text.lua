-- The text of an entry or a chapter of docs/reference.md for a terminal. The chunk gets the reference, as reference.lua reads it,
-- and the function signature(receiver, name) of the bindings. It returns a table of functions.
local reference, signature_line = ...

local ipairs, pcall = ipairs, pcall
local concat, insert = table.concat, table.insert
local find, gmatch, gsub, match, rep, sub = string.find, string.gmatch, string.gsub, string.match, string.rep, string.sub
local max = math.max

-- ---- layout ---------------------------------------------------------------------------------------------------------------------

--- Plain text of Markdown: links are their words, and names have no backticks.
local function plain(words)
  words = gsub(gsub(words, "%[([^%]]-)%]%(#[^)]*%)", "%1"), "`", "")
  return (gsub(gsub(words, "%*%*(.-)%*%*", "%1"), "%f[%*%w]%*(%a[%w ]*)%*%f[^%*%w]", "%1"))
end

local widest_column = 28

local function length(line) return select(2, gsub(line, "[^\128-\191]", "")) end

--- The words in lines of the width; the first begins after `first`, the others after `indent`.
local function wrapped(words, width, first, indent)
  local lines, line = {}, first
  for word in gmatch(words, "%S+") do
    if length(line) + length(word) + 1 > width and match(line, "%S") and line ~= first then
      lines[#lines + 1], line = line, indent .. word
    else
      line = line .. ((line == "" or find(line, " $")) and "" or " ") .. word
    end
  end
  lines[#lines + 1] = line
  return concat(lines, "\n")
end

local function rest_of(head, cells)
  local rest = {}
  for i = 2, #cells do
    if cells[i] ~= "" then rest[#rest + 1] = (#cells > 2 and head[i] == "takes" and "takes " or "") .. plain(cells[i]) end
  end
  return concat(rest, "; ")
end

--- The first column beside the others; a longer cell has a line of its own.
local function table_text(head, rows, width)
  local column = 0
  for _, cells in ipairs(rows) do
    local size = length(plain(cells[1]))
    if size <= widest_column then column = max(column, size) end
  end
  column = column == 0 and 4 or column + 2
  local indent, lines = rep(" ", column + 2), {}
  for _, cells in ipairs(rows) do
    local first, rest = "  " .. plain(cells[1]), rest_of(head, cells)
    if length(first) > column and rest ~= "" then
      lines[#lines + 1], first = first, ""
    end
    lines[#lines + 1] = wrapped(rest, width, first .. rep(" ", column + 2 - length(first)), indent)
  end
  return concat(lines, "\n")
end

local function block_text(block, width)
  if block.kind == "table" then return table_text(block.head, block.rows, width) end
  if block.kind == "code" then return "    " .. gsub(block.text, "\n", "\n    ") end
  if block.kind == "text" then return wrapped(plain(block.text), width, "", "") end
  local items = {}
  for line in gmatch(block.text, "[^\n]+") do
    if find(line, "^%- ") then items[#items + 1] = sub(line, 3) else items[#items] = items[#items] .. " " .. match(line, "^%s*(.*)") end
  end
  for i, item in ipairs(items) do items[i] = wrapped(plain(item), width, "- ", "  ") end
  return concat(items, "\n")
end

-- ---- an entry -------------------------------------------------------------------------------------------------------------------

--- The signature that calls are checked by, which names the options.
local function signature_of(entry, asked)
  local receiver, name = match(asked, "^(.*[.:])([%w_]+)$")
  if receiver == "p:" then
    return reference.of_chart(signature_of(entry, "gpu.plot." .. name), name)
  elseif receiver then
    local ok, line = pcall(signature_line, receiver, name)
    if ok then return line end
  end
  return entry.signature and plain(entry.signature) or entry.name
end

--- The rows of a table of options that the signature has.
local function own_options(block, signature)
  local options = match(signature, "{(.-)}")
  if not options then return nil end
  local has, rows = {}, {}
  for option in gmatch(options, "[%w_]+") do has[option] = true end
  for _, cells in ipairs(block.rows) do
    for option in gmatch(cells[1], "[%w_]+") do
      if has[option] then
        rows[#rows + 1] = cells
        break
      end
    end
  end
  return #rows > 0 and {kind = "table", head = block.head, rows = rows} or nil
end

local function mentions(words, name)
  local last = gsub(match(name, "[%w_]+$"), "%p", "%%%0")
  return find(words, "[.:]" .. last .. "%f[^%w_]") ~= nil
end

local function defines_functions(block)
  return block.kind == "table" and block.head[1] ~= "option" and find(concat(block.rows[1] or {}, " "), "gpu%.") ~= nil
end

--- For a row of a table: what the section says of all its functions, and what names this one.
local function around_row(entry, signature)
  local blocks, before = {}, true
  for _, block in ipairs(entry.section.blocks) do
    if block.kind == "code" then before = false
    elseif defines_functions(block) then before = false
    elseif block.kind == "table" then
      local options = block.head[1] == "option" and own_options(block, signature)
      if options then blocks[#blocks + 1] = options end
    elseif before or find(block.text, "^Errors?:") or mentions(block.text, entry.name) then
      blocks[#blocks + 1] = block
    end
  end
  return blocks
end

--- The first example that shows the name: of its own section, of a later one of the same chapter, of an earlier one.
local function example_of(entry)
  local own, first = false, nil
  for _, section in ipairs(reference.sections) do
    own = own or section == entry.section
    if section == entry.section or section.parent == entry.section.parent then
      for _, block in ipairs(section.blocks) do
        if block.kind == "code" and mentions(block.text, entry.name) then
          if own then return block end
          first = first or block
        end
      end
    end
  end
  return first
end

--- The sentences of a paragraph that name the entry.
local function sentences_about(entry)
  local found = {}
  for sentence in gmatch(gsub(entry.block.text, "([.:]) (%f[%u`g]%S)", "%1\n%2") .. "\n", "([^\n]*)\n") do
    if find(sentence, entry.name, 1, true) then found[#found + 1] = sentence end
  end
  return {kind = "text", text = concat(found, " ")}
end

--- What an entry is about, in a line: the row of its table, or a sentence.
local function summary(entry)
  if entry.row then return rest_of(entry.row.head, entry.row.cells) end
  local block = entry.block or entry.section.blocks[1]
  if not block or block.kind == "code" or block.kind == "table" then return plain(entry.section.title) end
  local text = gsub(plain(block.text), "%s+", " ") .. " "
  -- "gpu.sort: the elements in order. gpu.argsort: their positions."
  local own = match(text, "%f[%w_]" .. gsub(entry.name, "%p", "%%%0") .. ": (.-[^.])%. ")
  if own then return own end
  local is_shared = find(entry.section.title, "), ", 1, true) ~= nil
  local about = is_shared and sentences_about({name = entry.name, block = block}).text or ""
  return about ~= "" and plain(about) or match(text, "^(.-[^.])%. ") or text
end

local function entry_text(entry, asked, width)
  local signature = signature_of(entry, asked)
  local lines = {wrapped(signature, width, "", "    ")}
  local own = signature_of(entry, entry.name)
  if asked ~= entry.name and own ~= signature then lines[1] = lines[1] .. "\n" .. wrapped(own, width, "", "    ") end
  if find(asked, ":[%w_]+_$") and not find(entry.name, "_$") then
    insert(lines, wrapped(plain(asked) .. " writes the result to x.", width, "", ""))
  end
  local blocks
  if entry.block then
    blocks = {sentences_about(entry)}
  elseif entry.row then
    local cells = entry.row.cells
    local alone = plain(cells[1]) == entry.signature or cells[1] == ""
    insert(lines, alone and wrapped(rest_of(entry.row.head, cells), width, "", "") or table_text(entry.row.head, {cells}, width))
    blocks = around_row(entry, own)
  else
    blocks = {}
    for _, block in ipairs(entry.section.blocks) do
      if block.kind ~= "code" then blocks[#blocks + 1] = block end
    end
  end
  for _, block in ipairs(blocks) do insert(lines, block_text(block, width)) end
  local example = example_of(entry)
  if example then insert(lines, block_text(example, width)) end
  local section = entry.section.level == 4 and entry.section.parent or entry.section
  insert(lines, ("See also help %q."):format(section.title))
  return concat(lines, "\n\n")
end

local function section_text(section, width)
  local lines, names = {section.title}, {}
  for _, block in ipairs(section.blocks) do insert(lines, block_text(block, width)) end
  for _, other in ipairs(reference.sections) do
    if other.parent == section then names[#names + 1] = wrapped(plain(other.title), width, "  ", "      ") end
  end
  if #names > 0 then insert(lines, "In this chapter:\n" .. concat(names, "\n")) end
  return concat(lines, "\n\n")
end

--- Lines with the names of entries and what they are about, cut at the width.
local function list(entries, width)
  local column, lines = 0, {}
  for _, entry in ipairs(entries) do column = max(column, #entry.name) end
  for i, entry in ipairs(entries) do
    local line = entry.name .. rep(" ", column + 2 - #entry.name) .. gsub(summary(entry), "%s+", " ")
    if length(line) > width then
      while length(line) > width - 4 do line = gsub(line, "[^\128-\191][\128-\191]*$", "") end
      line = gsub(line, "%s*%S*$", "") .. " ..."
    end
    lines[i] = line
  end
  return concat(lines, "\n")
end

return {signature = signature_of, entry = entry_text, section = section_text, list = list, summary = summary, plain = plain, wrapped = wrapped}
