-- gpulua tools/manual.lua SOURCE_DIRECTORY OUTPUT
-- Writes the man page gpulua.1: what docs/reference.md has about the command and its environment, read by the parser of help().
local source, output = arg[1], arg[2]
local handle = assert(io.open(source .. "/docs/reference.md"))
local reference = dofile(source .. "/src/help/reference.lua")(handle:read "*a")
handle:close()

local lines = {}
local function add(line) lines[#lines + 1] = line end

--- Text as roff has it. A hyphen that is to be copied and typed is "\-".
local function plain(text)
  text = text:gsub("\\", "\\e"):gsub("^([.'])", "\\&%1")
  return text
end

--- The Markdown of the reference as roff: code and names of variables are bold, links are their texts.
local function roff(text)
  text = text:gsub("%[([^%]]*)%]%b()", "%1"):gsub("%*%*(.-)%*%*", "%1")
  local result, from = {}, 1
  for before, code, after in text:gmatch "([^`]*)`([^`]*)`()" do
    result[#result + 1] = plain(before) .. "\\fB" .. plain(code):gsub("%-", "\\-") .. "\\fR"
    from = after
  end
  result[#result + 1] = plain(text:sub(from))
  return (table.concat(result):gsub("^([.'])", "\\&%1"))
end

local function section(title)
  return assert(reference.section(title), "the reference has no chapter " .. title)
end

local function add_items(block)
  for _, row in ipairs(block.rows) do
    add ".TP"
    add(roff(row[1]))
    add(roff(row[2]) .. ".")
  end
end

add '.TH GPULUA 1 "" "gpulua" "User commands"'
add ".SH NAME"
add "gpulua \\- run LuaJIT scripts on a GPU, or on the processor"
add ".SH SYNOPSIS"
add "\\fBgpulua\\fR [\\fIoptions\\fR] [\\fIscript\\fR [\\fIarguments\\fR]]"
add ".SH DESCRIPTION"
add "\\fBgpulua\\fR is LuaJIT with the module \\fBgpu\\fR: arrays on a device, kernels in CUDA C++ that are compiled from strings, and"
add "NVIDIA's libraries. On a machine without an NVIDIA GPU the same scripts and kernels run on the processor."

local has_options = false
for _, block in ipairs(section("The command").blocks) do
  if block.kind == "table" then
    add ".SH OPTIONS"
    add_items(block)
    has_options = true
  elseif block.kind == "text" then
    local title, rest = block.text:match "^%*%*(.-)%*%*(.*)$"
    add(title and ".SH " .. title:upper() or ".PP")
    add(roff(title and rest:match "^: *(.*)$" or block.text))
  end
end
assert(has_options, "the chapter about the command has no table of options")

add ".SH ENVIRONMENT"
for _, block in ipairs(section("Environment variables").blocks) do
  if block.kind == "table" then
    add_items(block)
  elseif block.kind == "text" then
    add ".PP"
    add(roff(block.text))
  end
end

add ".SH EXAMPLES"
add ".nf"
add "gpulua \\-e 'print(gpu.linspace(0, 1, 5):sum())'"
add "gpulua \\-\\-device cpu \\-\\-profile script.lua"
add ".fi"
add ".SH SEE ALSO"
add ".BR luajit (1)"

local file = assert(io.open(output, "w"))
file:write(table.concat(lines, "\n"), "\n")
file:close()
