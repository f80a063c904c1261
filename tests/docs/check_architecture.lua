-- gpulua check_architecture.lua DESIGN.md ROOT: the sources keep the rules of the architecture that the document states.
-- The table of rooms says which room may include which; a row names rows above it only, so arrows go one way. Of a Lua file of the
-- library, import "name" is what #include is of a C++ file; between the files of a room only those within functions may go both ways.
local design, root = arg[1], arg[2]
local longest_file, most_files = 400, 45
local failures = {}

local function fail(...) table.insert(failures, string.format(...)) end

local function lines_of(path)
  local lines = {}
  for line in io.lines(path) do table.insert(lines, line) end
  return lines
end

--- The rows of the table: room -> {the rooms and the outside headers that it may include}.
local function read_rooms()
  local rooms, order, restricted = {}, {}, {}
  for line in io.lines(design) do
    local room, allowed = line:match "^| `([%w_/]+)/` |[^|]*|([^|]*)|$"
    if room then
      assert(not rooms[room], room .. " has two rows")
      rooms[room] = {[room] = true}
      for name in allowed:gmatch "`([^`]+)`" do
        if name:match "^<" then
          restricted[name:sub(2)] = true
        elseif not rooms[name] then
          fail("%s: the row of %s/ names %s, which has no row above it", design, room, name)
        end
        rooms[room][name] = true
      end
      table.insert(order, room)
    end
  end
  assert(#order > 10, "no table of rooms in " .. design)
  return rooms, restricted
end

local function sources()
  local files = {}
  local find = assert(io.popen("cd '" .. root .. "' && find src bindings library include kernels tests bench -type f \\( -name '*.h' -o "
    .. "-name '*.cpp' -o -name '*.cuh' -o -name '*.lua' -o -name '*.txt' \\) | sort"))
  for path in find:lines() do table.insert(files, path) end
  find:close()
  assert(#files > 300, "no sources in " .. root)
  return files
end

--- The room of a file: its folder. Headers that kernels include are text for the compilers of kernels.
local function room_of(path)
  if path:match "/headers/" then return nil end
  for _, top in ipairs {"src", "bindings", "library", "include"} do
    if path:match("^" .. top .. "/") then return path:match "^(.+)/[^/]+$" end
  end
end

local rooms, restricted = read_rooms()
local all_sources = sources()
local header_of_name, files_in, includes = {}, {}, 0
for _, path in ipairs(all_sources) do
  local name = path:match "[^/]+$"
  if name:match "%.h$" or name:match "%.cuh$" then
    if header_of_name[name] then fail("two headers have one name: %s and %s", header_of_name[name], path) end
    header_of_name[name] = path
  end
  local room = room_of(path)
  if room then
    files_in[room] = (files_in[room] or 0) + 1
    local lines = lines_of(root .. "/" .. path)
    if #lines > longest_file then fail("%s has %d lines, more than %d", path, #lines, longest_file) end
    if path:match "%.h$" or path:match "%.cpp$" then
      if not rooms[room] then fail("%s: the folder has no row in %s", path, design) end
      for number, line in ipairs(lines) do
        local ours, theirs = line:match '^#include "([^"]+)"', line:match "^#include <([^>]+)>"
        local target = ours and room_of(ours)
        if target then
          includes = includes + 1
          if not (rooms[room] or {})[target] then
            fail("%s:%d: %s/ may not include %s", path, number, room, ours)
          end
        end
        for prefix in pairs(restricted) do
          if theirs and theirs:sub(1, #prefix) == prefix and not (rooms[room] or {})["<" .. prefix] then
            fail("%s:%d: %s/ may not include <%s>", path, number, room, theirs)
          end
        end
      end
    end
  end
end
assert(includes > 500, "only " .. includes .. " includes were found")

-- ---- imports of the library's Lua files
local path_of, imports = {}, {}
for _, path in ipairs(all_sources) do
  local name = path:match "^library/.*/([^/]+)%.lua$"
  if name then
    if path_of[name] then fail("two files of the library have one name: %s and %s", path_of[name], path) end
    path_of[name] = path
  end
end
local count = 0
for name, path in pairs(path_of) do
  local room = room_of(path)
  if not rooms[room] then fail("%s: the folder has no row in %s", path, design) end
  imports[name] = {}
  for number, line in ipairs(lines_of(root .. "/" .. path)) do
    for imported in line:gmatch 'import%(? ?"([%w_]+)"' do
      local target = path_of[imported]
      count = count + 1
      if not target then
        fail("%s:%d: the library has no file %s.lua", path, number, imported)
      elseif not (rooms[room] or {})[room_of(target)] then
        fail("%s:%d: %s/ may not import %s", path, number, room, target)
      elseif not line:match "^%s" then
        table.insert(imports[name], imported)
      end
    end
  end
end
assert(count > 150, "only " .. count .. " imports were found")

local state = {}
local function visit(name)
  state[name] = "open"
  for _, imported in ipairs(imports[name]) do
    if state[imported] == "open" then fail("%s imports %s, which imports it", path_of[name], path_of[imported]) end
    if not state[imported] then visit(imported) end
  end
  state[name] = "closed"
end
for name in pairs(imports) do
  if not state[name] then visit(name) end
end

for room, files in pairs(files_in) do
  if files > most_files and room ~= "src/device/cpu/simd" then fail("%s/ has %d files, more than %d", room, files, most_files) end
end

if #failures > 0 then
  io.stderr:write(table.concat(failures, "\n"), "\n")
  os.exit(1)
end
print(includes .. " includes and " .. count .. " imports follow the arrows of " .. design:match "[^/]+$")
