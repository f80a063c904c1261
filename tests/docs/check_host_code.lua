-- gpulua check_host_code.lua include-folder C-compiler C++-compiler file.md...
-- Compiles the blocks of C and C++ in documents. One with #include is a program. Others are the body of a function, with the names of
-- the preludes below; those of C that begin with "static gpulua_status" are functions before it. Exits with 1 when a block fails.

local include, compilers = arg[1], {c = arg[2] .. " -std=c11", cpp = arg[3] .. " -std=c++17"}

local preludes = {
  c = [[
#include <gpulua/gpulua.h>
#include <stdio.h>
]],
  cpp = [[
#include <gpulua/gpulua.hpp>
#include <cstdio>
#include <vector>
struct Board { double read(int); };
]],
}
local heads = {
  c = "int run_%d(void) { gpulua_state* state = NULL; struct lua_State* L = NULL; (void)state; (void)L;\n",
  cpp = [[
void run_%d(gpulua::State& state, Board& board, std::string source, std::string path, std::vector<float> v, const gpulua::Array& x,
         const gpulua::Array& y, int n) { {
]],
}
local tails = {c = "return 0; }\n", cpp = "} }\n"}

--- The blocks of a document: {language = "c" or "cpp", line = of the first line of code, code = text}.
local function read_blocks(path)
  local blocks, block, number = {}, nil, 0
  for line in assert(io.open(path)):lines() do
    number = number + 1
    local language = line:match "^```(c[p+]*)$"
    if block and line == "```" then
      block.code = table.concat(block, "\n") .. "\n"
      blocks[#blocks + 1], block = block, nil
    elseif block then
      block[#block + 1] = line
    elseif preludes[language] then
      block = {language = language, line = number + 1}
    end
  end
  return blocks
end

local function compiles(language, text)
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
  local status = os.execute(("%s -fsyntax-only -I%s -x %s %s"):format(
    compilers[language], include, language == "c" and "c" or "c++", path))
  os.remove(path)
  return status == 0 or status == true
end

local failed, count = 0, 0
for i = 4, #arg do
  local functions, bodies = {c = "", cpp = ""}, {c = "", cpp = ""}
  for _, block in ipairs(read_blocks(arg[i])) do
    local language = block.language
    local code = ('#line %d "%s"\n%s'):format(block.line, arg[i], block.code)
    count = count + 1
    if code:find("#include", 1, true) then
      if not compiles(language, code) then failed = failed + 1 end
    elseif block.code:find "^static gpulua_status" then
      functions[language] = functions[language] .. code
    else
      bodies[language] = bodies[language] .. heads[language]:format(block.line) .. code .. tails[language]
    end
  end
  for language, body in pairs(bodies) do
    local text = preludes[language] .. functions[language] .. body
    if body ~= "" and not compiles(language, text) then failed = failed + 1 end
  end
end
assert(count > 0, "no block of C or C++")
print(("%d blocks of C and C++, %d programs failed"):format(count, failed))
os.exit(failed == 0 and 0 or 1)
