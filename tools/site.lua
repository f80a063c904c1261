-- gpulua tools/site.lua ROOT FOLDER: writes the pages of the site and mkdocs.yml into FOLDER, from the documents, the gallery's
-- scripts, which are run, and the tables of names of other libraries. `make docs` then runs mkdocs. A link that leads nowhere is an
-- error.
local root, folder = arg[1], arg[2]
local gpu = require "gpu"
package.path = root .. "/tools/?.lua;" .. package.path
local names = require "site_names"

local failures = {}
local function fail(...) failures[#failures + 1] = string.format(...) end

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "*a"
  file:close()
  return text
end

local function write(name, text)
  local file = assert(io.open(folder .. "/docs/" .. name, "wb"))
  file:write(text)
  file:close()
end

-- ---- documents ------------------------------------------------------------------------------------------------------------------

--- The anchor that the documents' links have for a heading: GitHub's.
local function slug_of(title)
  return (title:lower():gsub("[^%w%s_-]", ""):gsub("%s", "-"))
end

-- Python's Markdown wants a blank line before a list, and four blanks before what belongs to an item.
local function is_item(line) return line:find "^%s*[-*] " or line:find "^%s*%d+%. " end

--- A document as pages {name, title, lines}. `split`: each chapter is a page, and the text before the first one is the index.
local function read_document(path, name, split)
  local document = {pages = {}, page_of = {}, anchors = {}, path = path}
  local page, in_code, previous = nil, false, ""
  local function start(title, file)
    page = {name = file .. ".md", title = title, lines = {}}
    document.pages[#document.pages + 1] = page
  end
  local count = {}
  for line in (read(root .. "/" .. path) .. "\n"):gmatch "(.-)\r?\n" do
    if line:find "^%s*```" then in_code = not in_code end
    local marks, title = line:match "^(#+) (.*)$"
    if marks and not in_code then
      local slug = slug_of(title)
      count[slug] = (count[slug] or -1) + 1
      if count[slug] > 0 then slug = slug .. "-" .. count[slug] end
      local level = #marks
      if level == 1 then
        start(title, name)
      elseif split and level == 2 then
        start(title, name .. "-" .. slug)
      end
      document.page_of[slug] = page.name
      -- A chapter's page has its title as the first heading.
      if split and #document.pages > 1 then level = level - 1 end
      local shown = title:find "^[%a_]+[.:]" and title:find "[%(%[{=]" and "`" .. title .. "`" or title
      line = ("%s %s {#%s}"):format(("#"):rep(level), shown, slug)
    elseif not in_code and is_item(line) and previous ~= "" and not is_item(previous) and not previous:find "^%s%s" then
      page.lines[#page.lines + 1] = ""
    elseif not in_code then
      line = line:gsub("^   (%S)", "    %1")
    end
    page.lines[#page.lines + 1] = line
    previous = line
  end
  return document
end

local documents = {
  ["README.md"] = read_document("README.md", "index"),
  ["docs/guide.md"] = read_document("docs/guide.md", "guide", true),
  ["docs/reference.md"] = read_document("docs/reference.md", "reference", true),
  ["docs/cpu-device.md"] = read_document("docs/cpu-device.md", "cpu-device"),
  ["docs/security.md"] = read_document("docs/security.md", "security"),
  ["docs/embedding.md"] = read_document("docs/embedding.md", "embedding"),
  ["docs/python.md"] = read_document("docs/python.md", "python"),
  ["docs/design.md"] = read_document("docs/design.md", "design"),
  ["docs/glossary.md"] = read_document("docs/glossary.md", "glossary"),
  ["docs/licences.md"] = read_document("docs/licences.md", "licences"),
  ["CONTRIBUTING.md"] = read_document("CONTRIBUTING.md", "contributing"),
  ["bench/README.md"] = read_document("bench/README.md", "performance"),
  ["docs/site/from-pycuda.md"] = read_document("docs/site/from-pycuda.md", "from-pycuda"),
  ["docs/site/from-numba.md"] = read_document("docs/site/from-numba.md", "from-numba"),
  ["docs/site/from-jax-and-pytorch.md"] = read_document("docs/site/from-jax-and-pytorch.md", "from-jax-and-pytorch"),
}

local function join(from, path)
  local whole = (from:match "^(.*/)" or "") .. path
  local parts = {}
  for part in whole:gmatch "[^/]+" do
    if part == ".." then parts[#parts] = nil elseif part ~= "." then parts[#parts + 1] = part end
  end
  return table.concat(parts, "/")
end

--- Where a link of a document leads on the site; nil: to a file that the site has not.
local function target(document, link)
  local path, anchor = link:match "^([^#]*)#?(.*)$"
  local other = document
  if path ~= "" then
    path = join(document.path, path)
    other = documents[path]
    if not other then
      local file = io.open(root .. "/" .. path)
      if file then file:close() else fail("%s: the link %s leads nowhere", document.path, link) end
      if file and path:find "^docs/pictures/" then return path:sub(#"docs/" + 1) end
      if file and path:find "%.md$" then fail("%s: the link %s leads to a document that is no page", document.path, link) end
      return nil
    end
  end
  if anchor == "" then return other.pages[1].name end
  if not other.page_of[anchor] then
    fail("%s: the link %s names no heading", document.path, link)
    return nil
  end
  return other.page_of[anchor] .. "#" .. anchor
end

local function with_links(document, text)
  text = text:gsub("(%[[^%]]*%])(%b())", function(label, link)
    link = link:sub(2, -2)
    if link:find "^%a+://" or link:find "[%s,]" or not link:find "[#./]" and link ~= "LICENSE" then return nil end
    local there = target(document, link)
    return there and label .. "(" .. there .. ")" or label:sub(2, -2)
  end)
  for link in text:gmatch "%]%((#[^)]*)%)" do fail("%s: the link %s was not understood", document.path, link) end
  return text
end

--- The page with the links of its text, not its code, as the site has them.
local function page_text(document, page)
  local parts, text, in_code = {}, {}, false
  local function finish() parts[#parts + 1], text = with_links(document, table.concat(text, "\n")), {} end
  for _, line in ipairs(page.lines) do
    local is_fence = line:find "^%s*```"
    if is_fence and not in_code then finish() end
    if in_code or is_fence then parts[#parts + 1] = line else text[#text + 1] = line end
    if is_fence then in_code = not in_code end
  end
  finish()
  return table.concat(parts, "\n") .. "\n"
end

local navigation = {}
local function list(title, file, depth)
  navigation[#navigation + 1] = ("%s- '%s':%s"):format(("  "):rep(depth), title:gsub("`", ""):gsub("'", "''"), file and " " .. file or "")
end

local function list_document(path, title, depth)
  local document = documents[path]
  if #document.pages == 1 then return list(title, document.pages[1].name, depth) end
  list(title, nil, depth)
  list("Overview", document.pages[1].name, depth + 1)
  for i = 2, #document.pages do list(document.pages[i].title, document.pages[i].name, depth + 1) end
end

--- What the first page of a split document ends with.
local function chapter_list(document)
  local lines = {"\n## Chapters\n"}
  for i = 2, #document.pages do lines[i] = ("- [%s](%s)"):format(document.pages[i].title, document.pages[i].name) end
  return table.concat(lines, "\n") .. "\n"
end

-- ---- gallery --------------------------------------------------------------------------------------------------------------------

--- Runs each of docs/gallery, which writes a picture to the path in arg[1]; its first lines are comments: a title, then a text.
local function gallery()
  local lines = {"# Gallery\n", "Each picture is what its script draws.\n"}
  local found = io.popen("ls '" .. root .. "/docs/gallery'")
  for file in found:lines() do
    local text = read(root .. "/docs/gallery/" .. file)
    local title, rest = text:match "^%-%- ([^\n]+)\n(.*)$"
    local picture = "gallery/" .. file:gsub("lua$", text:find "plot%.animate" and "gif" or "png")
    _G.arg = {[0] = file, folder .. "/docs/" .. picture}
    gpu.random.seed(1)
    assert(loadfile(root .. "/docs/gallery/" .. file))()
    lines[#lines + 1] = ("## %s\n\n![%s](%s)\n\n```lua\n%s```\n"):format(title, title, picture, rest)
  end
  found:close()
  write("gallery.md", table.concat(lines, "\n"))
end

-- ---- the site -------------------------------------------------------------------------------------------------------------------

os.execute(("rm -rf '%s/docs' && mkdir -p '%s/docs/gallery' && cp -r '%s/docs/pictures' '%s/docs'"):format(folder, folder, root, folder))
gallery()
local reference = dofile(root .. "/src/help/reference.lua")(read(root .. "/docs/reference.md"))
write("from-numpy.md", names.page(read(root .. "/docs/site/numpy.txt"), function(name)
  local entry = reference.find(name)
  local slug = entry and slug_of(entry.section.title)
  local page = slug and documents["docs/reference.md"].page_of[slug]
  return page and page .. "#" .. slug
end))
for _, document in pairs(documents) do
  for i, page in ipairs(document.pages) do
    local text = page_text(document, page)
    write(page.name, i == 1 and #document.pages > 1 and text .. chapter_list(document) or text)
  end
end

list("gpulua", "index.md", 0)
list_document("docs/guide.md", "Guide", 0)
list_document("docs/reference.md", "Reference", 0)
list("Coming from", nil, 0)
list("NumPy and CuPy", "from-numpy.md", 1)
list("PyCUDA", "from-pycuda.md", 1)
list("Numba", "from-numba.md", 1)
list("JAX and PyTorch", "from-jax-and-pytorch.md", 1)
list("Gallery", "gallery.md", 0)
list("Performance", "performance.md", 0)
list("More", nil, 0)
list("The cpu device", "cpu-device.md", 1)
list("Embedding", "embedding.md", 1)
list("Python", "python.md", 1)
list("Scripts that are not trusted", "security.md", 1)
list("Design", "design.md", 1)
list("Glossary", "glossary.md", 1)
list("Contributing", "contributing.md", 1)
list("Licences", "licences.md", 1)

local settings = assert(io.open(folder .. "/mkdocs.yml", "wb"))
settings:write(read(root .. "/docs/site/mkdocs.yml"), "nav:\n  ", table.concat(navigation, "\n  "), "\n")
settings:close()

if #failures > 0 then
  io.stderr:write(table.concat(failures, "\n"), "\n")
  os.exit(1)
end
