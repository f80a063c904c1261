-- help(what), `? what`, and what completion knows of properties and options: all from docs/reference.md. The chunk gets load, a
-- function that runs a file of the command's with arguments, the reference's text, the bindings' helpers, and the function
-- distance(a, b): how many letters two words differ by. It returns three functions: show, properties and options.
local load, text, helpers, distance = ...

local debug, ipairs, next, pcall, rawget, tostring, type = debug, ipairs, next, pcall, rawget, tostring, type
local concat, insert, sort = table.concat, table.insert, table.sort
local find, gmatch, gsub, lower, match, rep = string.find, string.gmatch, string.gsub, string.lower, string.match, string.rep
local min, max = math.min, math.max
local registry, globals, loaded = debug.getregistry(), _G, package.loaded

local reference = load "reference.lua"(text)
local objects = load "objects.lua"
local show_text = load("help_text.lua", reference, helpers.signature)
local search = load("search.lua", reference, show_text.summary, load "topics.lua")

local widest = 100 -- longer lines are hard to read

-- ---- functions that are not the library's ---------------------------------------------------------------------------------------
local function name_in_lua(value)
  for library, functions in next, loaded do
    if type(functions) == "table" and library ~= "gpu" then
      for key, item in next, functions do
        if item == value then return (library == "_G" and "" or library .. ".") .. tostring(key) end
      end
    end
  end
end

local function about_function(value)
  local name = name_in_lua(value)
  if name then
    return ("%s is LuaJIT's: https://www.lua.org/manual/5.1/manual.html#pdf-%s, https://luajit.org/extensions.html"):format(name, name)
  end
  local info = debug.getinfo(value, "S")
  return ("a function of %s:%d"):format(info.short_src, info.linedefined)
end

-- ---- no entry -------------------------------------------------------------------------------------------------------------------

local most_names = 12

--- Names that are spelt similarly, or have the word in them.
local function near_names(asked)
  local word, before = lower(match(asked, "[%w_]+$") or asked), match(asked, "^(.*[.:])") or "gpu."
  local ranked, seen = {}, {}
  for _, entry in ipairs(reference.entries) do
    local last = lower(match(entry.name, "[%w_]+$") or entry.name)
    local steps = distance(word, last)
    local rank = steps <= max(1, #word / 4) and steps or #word > 2 and find(last, word, 1, true) and 10
    if rank and not seen[entry.name] then
      seen[entry.name] = true
      ranked[#ranked + 1] = {entry.name, rank}
    end
  end
  -- Of names that are equally near, first those with the prefix of the one asked for, then functions, then methods of arrays.
  local function kind(name)
    return find(name, before, 1, true) == 1 and 0 or find(name, "^gpu%.") and 1 or find(name, "^x[.:]") and 2 or 3
  end
  sort(ranked, function(a, b)
    if a[2] ~= b[2] then return a[2] < b[2] end
    if kind(a[1]) ~= kind(b[1]) then return kind(a[1]) < kind(b[1]) end
    return a[1] < b[1]
  end)
  local names = {}
  for i = 1, min(#ranked, most_names) do names[i] = ranked[i][1] end
  return names
end

--- What the name is here of a function that other libraries have, as the error about the missing field says it.
local function use_instead(asked)
  local _, message = pcall(function() return registry["gpulua.module"][asked] end)
  local use = type(message) == "string" and match(message, "; use ([^\n]*)")
  return use and "Use " .. use .. "." or nil
end

--- What there is about words that are no name: functions and chapters, names that are spelt similarly.
local function about_words(asked, width)
  local lines = {}
  if not find(asked, "%s") then lines[1] = use_instead(match(asked, "[%w_]+$") or asked) end
  local entries, sections, ways = search(asked)
  for _, way in ipairs(ways) do insert(lines, show_text.wrapped(way, width, "", "  ")) end
  local is_found = #entries + #sections + #lines > 0
  if #entries > 0 then insert(lines, show_text.list(entries, width)) end
  if #sections > 0 then
    local titles = {}
    for i, section in ipairs(sections) do titles[i] = ("%q"):format(show_text.plain(section.title)) end
    insert(lines, show_text.wrapped("Chapters: help " .. concat(titles, ", "), width, "", "  "))
  end
  local names = not find(asked, "%s") and near_names(asked) or {}
  if not is_found then insert(lines, ("The reference has no entry %q."):format(asked)) end
  if #names > 0 then insert(lines, show_text.wrapped("Near names: " .. concat(names, ", "), width, "", "  ")) end
  if #entries > 0 then insert(lines, ("? %s shows more about it."):format(entries[1].name)) end
  return concat(lines, "\n")
end

-- ---- help -----------------------------------------------------------------------------------------------------------------------

local function overview(width)
  local titles = {}
  for _, section in ipairs(reference.sections) do
    if section.level == 2 or section.level == 3 then titles[#titles + 1] = rep("  ", section.level - 1) .. show_text.plain(section.title) end
  end
  return concat({
    show_text.wrapped("help(gpu.sum) or ? gpu.sum shows what a function does, with an example; ? x:take a method, ? x.shape a property, "
      .. "? median filter what there is about some words. help(gpu.fft) lists the functions of a part, help \"Indexing\" shows a "
      .. "chapter of the reference:", width, "", ""),
    concat(titles, "\n"),
  }, "\n\n")
end

--- "x:take" for "prices:take" where prices is an array: names of the script's own are those of their types.
local function by_type(asked)
  local path, rest = match(asked, "^([%a_][%w_]*)(.*)$")
  local own = path and path ~= "gpu" and objects.type_of(rawget(globals, path))
  if not own then return asked end
  return own[1] .. rest, rest == "" and own[2]
end

--- The functions of a part of gpu, "gpu.ndimage", and the chapters that describe them; nil for another name.
local function about_part(name, width)
  local entries, chapters, seen, prefix = {}, {}, {}, name .. "."
  for _, entry in ipairs(reference.entries) do
    if find(entry.name, prefix, 1, true) == 1 and not seen[entry.name] then
      entries[#entries + 1], seen[entry.name] = entry, true
      local section = entry.section.level > 3 and entry.section.parent or entry.section
      local title = ("%q"):format(show_text.plain(section.title))
      if not seen[title] then chapters[#chapters + 1], seen[title] = title, true end
    end
  end
  if #entries == 0 then return nil end
  local titles = show_text.wrapped("Chapters: help " .. concat(chapters, ", "), width, "", "  ")
  return concat({name, show_text.list(entries, width), titles}, "\n\n")
end

local function about_name(asked, width)
  asked = gsub(gsub(match(asked, "^[%s?]*(.-)[%s?;]*$"), "%b()$", ""), "^[.:]", "")
  if asked == "" then return overview(width) end
  local name, chapter = by_type(asked)
  local section = reference.section(chapter or name)
  if section then return show_text.section(section, width) end
  local part = find(name, "^gpu%.") and about_part(name, width)
  if part then return part end
  local entry = not find(name, "%s") and reference.find(name)
  -- What help answers about x:exp is the method, though the entry is that of gpu.exp.
  if entry then
    local lines = {show_text.entry(entry, find(name, "^%a+[.:]") and name or entry.name, width)}
    local _, _, ways = search(find(name, "^%a+$") and name or "")
    for _, way in ipairs(ways) do insert(lines, "\n" .. show_text.wrapped(way, width, "", "  ")) end
    return concat(lines, "\n")
  end
  return about_words(asked, width), true
end

--- The text about a name, a function or another value; the chapters when there is not `any`. The second result is true for a name
--- that the reference lacks.
local function show(width, any, what)
  width = min(width, widest)
  if not any then return overview(width) end
  local kind = type(what)
  if kind == "string" then return about_name(what, width) end
  if kind == "function" then
    local name = objects.name_of(what)
    return name and about_name(name, width) or show_text.wrapped(about_function(what), width, "", "  ")
  end
  if kind == "table" then
    local name = objects.name_of(what)
    if name == "gpu" then return overview(width) end
    if name then return about_name(name, width) end
  end
  local own = objects.type_of(what)
  if own then return tostring(what) .. "\n\n" .. show_text.section(reference.section(own[2]), width) end
  return ("a %s: help is about functions, objects of gpu, and names in a string"):format(kind)
end

--- The names of the properties, without methods, of what has the letter in the reference: "x" of an array.
local function properties(letter)
  local names = {}
  for _, entry in ipairs(reference.entries) do
    if match(entry.name, "^(%a+)%.") == letter then names[#names + 1] = match(entry.name, "[%w_]+$") end
  end
  return names
end

--- The names of the options of a function or a method, "gpu.zeros" or "chart:line".
local function options(name)
  name = by_type(name)
  local entry, names = reference.find(name) or reference.find(match(name, "[%w_]+$")), {}
  local list = entry and match(show_text.signature(entry, name), "{([^{}]*)}[^{}]*$") or ""
  for option in gmatch(list, "[%a_][%w_]*") do names[#names + 1] = option end
  return names
end

return show, properties, options
