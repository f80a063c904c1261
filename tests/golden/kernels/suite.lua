-- Runs the cases on the current device, keeps their outputs in a file, and compares with a file.
local gpu = require "gpu"
local ffi = require "ffi"
local bit = require "bit"
local folder = debug.getinfo(1, "S").source:match "^@(.*)/" or "."
local inputs = dofile(folder .. "/inputs.lua")

local suite = {}

-- How each type travels: its C name in a kernel's parameters, the array's dtype, the host's element, and how to compare.
local types = {
  float = { c = "float", dtype = "float32", host = "float", digits = "float" },
  double = { c = "double", dtype = "float64", host = "double", digits = "double" },
  int = { c = "int", dtype = "int32", host = "int32_t" },
  uint = { c = "unsigned int", dtype = "uint32", host = "uint32_t" },
  ll = { c = "long long", dtype = "int64", host = "int64_t" },
  ull = { c = "unsigned long long", dtype = "uint64", host = "uint64_t" },
  half = { c = "unsigned short", dtype = "uint16", host = "uint16_t", digits = "half",
    load = "__ushort_as_half(%s)", store = "__half_as_ushort(%s)" },
  bfloat16 = { c = "unsigned short", dtype = "uint16", host = "uint16_t", digits = "bfloat16",
    load = "__ushort_as_bfloat16(%s)", store = "__bfloat16_as_ushort(%s)" },
}

-- ---- the cases ---------------------------------------------------------------------------------------------------------------

suite.groups = {}
for _, name in ipairs { "math", "rounding", "integers", "words", "halves", "atomics", "threads", "random", "ptx" } do
  local group = dofile(folder .. "/cases/" .. name .. ".lua")
  group.name = name
  suite.groups[#suite.groups + 1] = group
end

--- A case of one expression: a kernel that computes it for each item. Names of its inputs: x, y, z.
local function expression_kernel(case, number)
  local parameters, loads = {}, {}
  for k, type in ipairs(case.inputs) do
    local letter = ("xyz"):sub(k, k)
    parameters[k] = ("const %s* in_%s, "):format(types[type].c, letter)
    loads[k] = ("auto %s = %s; "):format(letter, (types[type].load or "%s"):format("in_" .. letter .. "[i]"))
  end
  return ("__global__ void case_%d(%s%s* out, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) { %sout[i] = %s; }\n}\n"):format(
    number, table.concat(parameters), types[case.output].c, table.concat(loads), (types[case.output].store or "%s"):format(case.expression))
end

--- A group's one module.
local function source_of(group)
  local parts = { group.prologue or "" }
  for number, case in ipairs(group) do
    parts[#parts + 1] = case.expression and expression_kernel(case, number) or ""
  end
  return table.concat(parts, "\n")
end

local function run_expression(kernel, case, number)
  local count, host = case.count or (#case.inputs == 1 and 256 or 512), {}
  for k, type in ipairs(case.inputs) do host[k] = types[type].host end
  local arguments = {}
  for k, view in ipairs(inputs.make(case.inputs, host, count, case.range, number)) do
    arguments[k] = gpu.array(view, types[case.inputs[k]].dtype)
  end
  local out = gpu.zeros(count, types[case.output].dtype)
  arguments[#arguments + 1] = out
  arguments[#arguments + 1] = count
  kernel { grid = math.ceil(count / 128), block = 128 }(unpack(arguments))
  return out, count
end

--- A kernel of the group's prologue with one output of zeros.
local function run_kernel(kernel, case)
  local out = gpu.zeros(case.count, types[case.output].dtype)
  kernel { grid = case.grid or 1, block = case.block or 32, cooperative = case.cooperative }(out, unpack(case.arguments or {}))
  return out, case.count
end

--- Runs a group; gives for each case its output's bytes.
function suite.run(group)
  local module = gpu.module(source_of(group), { options = group.options })
  local outputs = {}
  for number, case in ipairs(group) do
    local out, count
    if case.expression then
      out, count = run_expression(module:kernel("case_" .. number), case, number)
    else
      out, count = run_kernel(module:kernel(case.kernel), case)
    end
    local bytes = count * ffi.sizeof(types[case.output].host)
    local view = ffi.new(types[case.output].host .. "[?]", count)
    out:copy_to(view)
    outputs[number] = ffi.string(view, bytes)
  end
  return outputs
end

-- ---- the file: a line of versions, then for each case a line "group case bytes digest" and the bytes -------------------------

local inputs_text = assert(io.open(folder .. "/inputs.lua", "rb")):read "*a"

--- Changes when the case's kernel, its launch or the code that makes its inputs changes: what was recorded no longer holds then.
local function digest(group, number)
  local case, hash = group[number], 5381
  local parts = {
    group.prologue or "", table.concat(group.options or {}, " "), tostring(case.count), case.output,
    case.expression and expression_kernel(case, number) or case.kernel,
  }
  if case.expression then
    parts[#parts + 1] = table.concat(case.range or {}, " ") .. inputs_text
  else
    local launch = { tostring(case.grid), tostring(case.block), tostring(case.cooperative) }
    for _, argument in ipairs(case.arguments or {}) do launch[#launch + 1] = tostring(argument) end
    parts[#parts + 1] = table.concat(launch, " ")
  end
  local text = table.concat(parts, "\n")
  for i = 1, #text do hash = bit.tobit(bit.bxor(bit.lshift(hash, 5) + hash, text:byte(i))) end
  return bit.tohex(hash)
end

--- The device and the compiler that the outputs come from.
function suite.versions()
  local device = gpu.device()
  local compiler = gpu.module("__global__ void k() {}").ptx:match "release [%d.]+, V[%d.]+" or "another compiler than NVRTC"
  return ("%s, %s, gpulua %s, %s"):format(device.description, device.architecture, gpu.version, compiler)
end

function suite.write_versions(file) file:write("# ", suite.versions(), "\n") end

function suite.write(file, group, outputs)
  for number, case in ipairs(group) do
    file:write(("%s %s %d %s\n"):format(group.name, case.name, #outputs[number], digest(group, number)), outputs[number], "\n")
  end
end

--- What was recorded: `recorded["group case"] = { bytes =, digest = }`, and `recorded.versions`.
function suite.read(path)
  local file = io.open(path, "rb")
  if not file then error("expected " .. path .. ", got no such file; record.lua writes it on a GPU") end
  local recorded = { versions = file:read("*l"):match "^# (.+)" }
  assert(recorded.versions, path .. " does not name the versions that it comes from; record.lua writes them")
  for line in function() return file:read "*l" end do
    local group, case, bytes, hash = line:match "^(%S+) (%S+) (%d+) (%x+)$"
    recorded[group .. " " .. case] = { bytes = file:read(tonumber(bytes)), digest = hash }
    file:read(1)
  end
  file:close()
  return recorded
end

-- ---- comparing ---------------------------------------------------------------------------------------------------------------

-- For each floating-point type: its bits as a signed integer, whether they are a NaN, and the number.
local views = {
  float = { bits = "int32_t", wide = 2147483648LL, nan = 0x7f800000LL, number = function(view, i) return ffi.cast("const float*", view)[i] end },
  double = { bits = "int64_t", nan = 0x7ff0000000000000LL, number = function(view, i) return ffi.cast("const double*", view)[i] end },
  half = { bits = "int16_t", wide = 32768LL, nan = 0x7c00LL },
  bfloat16 = { bits = "int16_t", wide = 32768LL, nan = 0x7f80LL },
}
local function magnitude(view, bits)
  return view.wide and (bits < 0 and bits + view.wide or bits) or bit.band(bits, 0x7fffffffffffffffLL)
end

--- The first item that differs by more than the case allows, as text; nil where there is none.
function suite.difference(case, expected, got)
  local type = types[case.output]
  local count = #expected / ffi.sizeof(type.host)
  local a, b = ffi.cast("const " .. type.host .. "*", expected), ffi.cast("const " .. type.host .. "*", got)
  local view = type.digits and views[type.digits]
  for i = 0, count - 1 do
    local same
    if view then
      local x = ffi.cast("int64_t", ffi.cast("const " .. view.bits .. "*", expected)[i])
      local y = ffi.cast("int64_t", ffi.cast("const " .. view.bits .. "*", got)[i])
      local mx, my = magnitude(view, x), magnitude(view, y)
      same = x == y or (mx > view.nan and my > view.nan)
      if not same and case.ulp then
        local sx, sy = x < 0 and -mx or mx, y < 0 and -my or my
        local apart = sx > sy and sx - sy or sy - sx
        same = mx <= view.nan and my <= view.nan and apart >= 0 and apart <= case.ulp
      end
      if not same and case.absolute and view.number then
        same = math.abs(view.number(expected, i) - view.number(got, i)) <= case.absolute
      end
    else
      same = a[i] == b[i]
    end
    if not same then return ("item %d: expected %s, got %s"):format(i, tostring(a[i]), tostring(b[i])) end
  end
end

--- "same", or the difference, or what is wrong with the record: a case has changed since, or was not recorded.
function suite.compare(recorded, group, number, output)
  local case = group[number]
  local entry = recorded[group.name .. " " .. case.name]
  if not entry then return "not recorded: run record.lua on a GPU" end
  if entry.digest ~= digest(group, number) then return "stale, as the case or its inputs have changed: run record.lua on a GPU" end
  if #entry.bytes ~= #output then return ("expected %d bytes, got %d"):format(#entry.bytes, #output) end
  return suite.difference(case, entry.bytes, output) or "same"
end

return suite
