-- gpulua check_architecture.lua DESIGN.md ROOT: the sources keep the rules of the architecture that the document states.
-- The table of rooms says which room may include which; a row names rows above it only, so arrows go one way.
local design, root = arg[1], arg[2]
local longest_file = 400
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

--- The room of a file: its folder, of a Lua file of the library the library. Headers that kernels include are text for the compilers of kernels.
local function room_of(path)
  if path:match "/headers/" then return nil end
  return path:match "^(src/.+)/[^/]+$" or path:match "^(bindings)/[^/]+$" or path:match "^(library)/" or path:match "^(include/gpulua)/[^/]+$"
end

local rooms, restricted = read_rooms()
local header_of_name, includes = {}, 0
for _, path in ipairs(sources()) do
  local name = path:match "[^/]+$"
  if name:match "%.h$" or name:match "%.cuh$" then
    if header_of_name[name] then fail("two headers have one name: %s and %s", header_of_name[name], path) end
    header_of_name[name] = path
  end
  local room = room_of(path)
  if room then
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

if #failures > 0 then
  io.stderr:write(table.concat(failures, "\n"), "\n")
  os.exit(1)
end
print(includes .. " includes follow the arrows of " .. design:match "[^/]+$")
