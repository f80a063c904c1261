-- gpulua check_paths.lua ROOT document.md...: every name of a file or folder of this tree that a document has in backticks exists.
-- A name with folders is given from the root, `src/eval/plan.cpp`; one without must be the name of some file, `plan.cpp`.
-- A `*` stands for any text: `kernels/*.cuh`.
local root = arg[1]
local extensions = {}
for extension in ("h cpp cuh lua md txt py sh cmake map json yml"):gmatch "%a+" do extensions[extension] = true end

--- Everything in the tree, by its path and by its name.
local paths, names = {}, {}
local find = assert(io.popen("cd '" .. root .. "' && find . -path ./build -prune -o -path ./.git -prune -o -print"))
for line in find:lines() do
  local path = line:match "^%./(.+)$"
  if path then
    paths[path] = true
    names[path:match "[^/]+$"] = true
  end
end
find:close()
assert(paths["docs/design.md"], "no tree in " .. root)

local function exists(name)
  local list = name:find "/" and paths or names
  if not name:find "*" then return list[name] end
  local pattern = "^" .. name:gsub("%p", "%%%0"):gsub("%%%*", "[^/]*") .. "$"
  for path in pairs(list) do
    if path:find(pattern) then return true end
  end
end

--- What a document means as a name in this tree: it has a slash, or ends as a source file does. Names without a stem, `.npy`, are
--- kinds of files; paths from the system's root and from `..`, and in the folders that builds write to, are not of this tree.
local function is_name(text)
  if not text:find "^[%w_*][%w_./*-]*$" or text:find "^build/" or text:find "^stage/" then return false end
  return text:find "/" or extensions[text:match "[%w_*]%.(%a+)$" or ""]
end

local failures, count = {}, 0
for i = 2, #arg do
  local number, in_block = 0, false
  for line in io.lines(arg[i]) do
    number = number + 1
    if line:find "^%s*```" then in_block = not in_block end
    for text in (in_block and "" or line):gmatch "`([^`]+)`" do
      if is_name(text) then
        count = count + 1
        if not exists((text:gsub("/$", ""))) then
          table.insert(failures, ("%s:%d: `%s` does not exist"):format(arg[i], number, text))
        end
      end
    end
  end
end
assert(count > 100, "only " .. count .. " names were found")

if #failures > 0 then
  io.stderr:write(table.concat(failures, "\n"), "\n")
  os.exit(1)
end
print(count .. " names of files and folders exist")
