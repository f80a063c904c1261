-- Finds what the reference has about some words: functions, then chapters. The chunk gets the reference, as reference.lua reads it, the
-- function summary(entry) of help_text.lua and the list of topics.lua. It returns the function
-- search(words) -> entries, sections, ways: lists, the best first; the last one is of the sentences of topics.lua.
local reference, summary, topics = ...

local ipairs, next, pairs = ipairs, next, pairs
local find, gmatch, gsub, lower, match = string.find, string.gmatch, string.gsub, string.lower, string.match
local log, min, sort = math.log, math.min, table.sort

-- ---- words ----------------------------------------------------------------------------------------------------------------------

local without_meaning = {}
for word in gmatch("a all an and are as at be by can do does each every for from get give how i in is it its make me my of on one or "
  .. "that the their there these they this to use using want was what where with without you am gpu lua option", "%a+") do
  without_meaning[word] = true
end

-- "correlation", "correlations" and "correlate" are one word.
local endings = {"ations?$", "ions?$", "ings?$", "ies$", "ed$", "es$", "s$", "e$", "y$"}

local function stem(word)
  for _, ending in ipairs(endings) do
    local short = gsub(word, ending, ending == "ations?$" and "at" or "")
    if short ~= word then return #short >= 3 and short or word end
  end
  return word
end

--- Calls fn with the stem of each word that means something.
local function each_word(text, fn)
  for word in gmatch(lower(text), "%w+") do
    if not without_meaning[word] then fn(stem(word)) end
  end
end

-- ---- the index ------------------------------------------------------------------------------------------------------------------

--- A document counts a word more where it stands in its name.
local function add(document, text, weight)
  each_word(text, function(word) document.words[word] = (document.words[word] or 0) + weight end)
end

local function texts_of(section, kind)
  local texts = {}
  for _, block in ipairs(section.blocks) do
    if (block.kind == "code") == (kind == "code") then texts[#texts + 1] = block.text end
    for _, row in ipairs(kind == "table" and block.rows or {}) do texts[#texts + 1] = table.concat(row, " ") end
  end
  return table.concat(texts, " ")
end

-- Functions and methods of objects that few scripts have are found after others.
local rank = {["gpu."] = 1, ["x:"] = 0.9, ["x."] = 0.9, ["t:"] = 1, ["groups:"] = 0.9}

local function entry_documents()
  local documents, at = {}, {}
  for _, entry in ipairs(reference.entries) do
    local document = {entry = entry, words = {}, share = rank[match(entry.receiver, "^%a+[.:]?")] or 0.7}
    add(document, gsub(entry.name, "[_.:]", " "), 3)
    add(document, match(entry.name, "[.:](%a+)$") or "", 3) -- the whole name
    add(document, summary(entry), 1.5)
    if not entry.row then add(document, texts_of(entry.section, "text"), 0.5) end
    add(document, entry.section.title .. " " .. (entry.section.parent and entry.section.parent.title or ""), 0.7)
    -- A heading describes a function better than a row of a table.
    local held = at[entry.name]
    if not held then
      documents[#documents + 1], at[entry.name] = document, #documents + 1
    elseif documents[held].entry.row and not entry.row then
      documents[held] = document
    end
  end
  return documents
end

local function section_documents()
  local documents = {}
  for _, section in ipairs(reference.sections) do
    if section.level == 2 or section.level == 3 then
      local document = {section = section, words = {}, share = 1}
      add(document, section.title, 3)
      add(document, texts_of(section, "table"), 0.5)
      add(document, texts_of(section, "code"), 0.3)
      documents[#documents + 1] = document
    end
  end
  return documents
end

--- How much a word says: rare ones say more.
local function weights_of(documents)
  local counts, weights = {}, {}
  for _, document in ipairs(documents) do
    for word in pairs(document.words) do counts[word] = (counts[word] or 0) + 1 end
  end
  for word, count in pairs(counts) do weights[word] = log(1 + #documents / count) end
  return weights
end

--- The documents that have the words, the best first. All of the words count for more than the same one many times.
local function ranked(index, words, most)
  local found, total = {}, 0
  for word in pairs(words) do total = total + (index.weights[word] or 4) end
  for place, document in ipairs(index.documents) do
    local score, covered = 0, 0
    for word in pairs(words) do
      local count = document.words[word]
      if count then
        local weight = index.weights[word]
        score, covered = score + weight * count / (count + 1.5), covered + weight
      end
    end
    if covered > 0.45 * total then
      found[#found + 1] = {document, score * (covered / total) ^ 1.5 * document.share, place}
    end
  end
  sort(found, function(a, b)
    if a[2] ~= b[2] then return a[2] > b[2] end
    return a[3] < b[3]
  end)
  local best = {}
  for i = 1, min(#found, most) do
    if found[i][2] > found[1][2] / 4 then best[i] = found[i][1] end
  end
  return best
end

-- ---- topics ---------------------------------------------------------------------------------------------------------------------

--- The entries of the topics whose words are all among these; first those of the topic with most words. The second list has those of
--- topics of a single word among others, the third what those of the first list say.
local function of_topics(words)
  local found, total = {}, 0
  for _ in pairs(words) do total = total + 1 end
  for _, topic in ipairs(topics) do
    local most = 0
    for phrase in gmatch(topic[1], "[^,]+") do
      local count, fits = 0, true
      each_word(phrase, function(word) count, fits = count + 1, fits and words[word] end)
      if fits and count > most then most = count end
    end
    if most > 0 then found[#found + 1] = {most, topic[2], #found, topic[3]} end
  end
  sort(found, function(a, b)
    if a[1] ~= b[1] then return a[1] > b[1] end
    return a[3] < b[3]
  end)
  local sure, likely, ways = {}, {}, {}
  for _, topic in ipairs(found) do
    local is_sure = topic[1] > 1 or total == 1
    local list = is_sure and sure or likely
    if is_sure then ways[#ways + 1] = topic[4] end
    for name in gmatch(topic[2], "%S+") do list[#list + 1] = reference.find(name) end
  end
  return sure, likely, ways
end

-- ---- search ---------------------------------------------------------------------------------------------------------------------

local most_entries, most_sections = 8, 3
local of_entries, of_sections

return function(asked)
  if not of_entries then
    of_entries, of_sections = {documents = entry_documents()}, {documents = section_documents()}
    of_entries.weights, of_sections.weights = weights_of(of_entries.documents), weights_of(of_sections.documents)
  end
  local words, entries, sections, seen = {}, {}, {}, {}
  each_word(gsub(asked, "[_.:]", " "), function(word) words[word] = true end)
  if not next(words) then return entries, sections, {} end
  local function offer(entry)
    if #entries < most_entries and not seen[entry.name] then
      seen[entry.name] = true
      entries[#entries + 1] = entry
    end
  end
  local sure, likely, ways = of_topics(words)
  for _, entry in ipairs(sure) do offer(entry) end
  -- "swap axes" and "group by" are names in one word.
  for _, between in ipairs {"_", ""} do
    local named = find(asked, "^%w[%w_ ]*$") and reference.find((gsub(asked, " ", between)))
    if named then offer(named) end
  end
  for i, document in ipairs(ranked(of_entries, words, most_entries)) do
    offer(document.entry)
    for _, entry in ipairs(i == 2 and likely or {}) do offer(entry) end
  end
  for _, entry in ipairs(likely) do offer(entry) end
  for _, document in ipairs(ranked(of_sections, words, most_sections)) do sections[#sections + 1] = document.section end
  return entries, sections, ways
end
