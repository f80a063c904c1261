-- gpulua tools/annotations.lua SOURCE_DIRECTORY OUTPUT
-- Writes gpu.d.lua, what the editor's lua-language-server shows of the module: the signatures that calls are checked by, and the
-- text of docs/reference.md, read by the parser of help().
local gpu = require "gpu"
local registry = debug.getregistry()
local helpers = registry["gpulua.helpers"]
helpers.load_library()

local source, output = arg[1], arg[2]
local handle = assert(io.open(source .. "/docs/reference.md"))
local reference = dofile(source .. "/src/help/reference.lua")(handle:read "*a")
handle:close()
local objects = dofile(source .. "/src/help/objects.lua")

local lines = {}
local function write(...) lines[#lines + 1] = (...):format(select(2, ...)) end

-- ---- types ----------------------------------------------------------------------------------------------------------------------

local operand = "gpu.array|number|boolean|ffi.cdata*"
local list = "gpu.array|number[]"

-- The types of parameters and options by their names, as the reference uses them throughout. Integers are numbers: what a script
-- computes has the type number in the language server's eyes.
local types = {
  x = "gpu.array", y = operand, a = "gpu.array", b = operand, z = "gpu.array", axis = "number|number[]", axes = "number|number[]",
  n = "number", k = "number", count = "number", rows = "number", columns = "number", offset = "number", degree = "number",
  shape = "number|number[]", fn = "function", path = "string", source = "string", name = "string", equation = "string",
  dtype = "gpu.dtype", device = "gpu.device|string", keepdims = "boolean", out = "gpu.array", where = "gpu.array", initial = "number",
  ddof = "number", arrays = "gpu.array[]", seed = "number", mode = "string", method = "string", norm = "string", sizes = "number|number[]",
  descending = "boolean", stable = "boolean", largest = "boolean", compress = "boolean", generator = "gpu.generator", bytes = "number",
  indices = list, positions = "gpu.array|number|number[]|string", values = "any", exclusive = "boolean", algorithm = "string", on = "boolean",
  rtol = "number", atol = "number", maxiter = "number", callback = "function", defines = "table<string, string|number|boolean>",
  s = "gpu.stream|number[]", event = "gpu.event", later = "gpu.event", repeats = "number", stop = "number", first = "number", last = "number",
  step = "number", A = "gpu.sparse_matrix|gpu.array|function", M = "gpu.sparse_matrix|gpu.array|function", column = "gpu.array",
}

-- Where a parameter is another thing than elsewhere.
local vector = "gpu.array|number[]"
local plotted = {x = vector, y = vector, low = vector, high = vector, errors = vector .. "|number", bins = "number|" .. vector,
  levels = "number|number[]", m = "gpu.array", heights = vector, text = "string", from = "number", to = "number"}
local own_types = {
  ["gpu.plot.bars"] = {x = vector .. "|string[]", heights = vector}, ["gpu.plot.boxplot"] = {names = "string[]|gpu.array", values = "any"},
  ["gpu.plot.annotate"] = {x = "number|gpu.array", y = "number|gpu.array"}, ["gpu.plot.hline"] = {y = "number|gpu.array"},
  ["gpu.plot.vline"] = {x = "number|gpu.array"}, ["t.take"] = {rows = list .. "|boolean[]"},
  ["t.sort_by"] = {names = "string|string[]"}, ["gpu.table"] = {columns = "table"},
}

-- What functions give that give no array; nothing is any value.
local results = {
  ["x.table"] = "table", ["x.ipc_handle"] = "string", ["gpu.ipc_handle"] = "string", ["x.item"] = "any", ["gpu.equal"] = "boolean",
  ["gpu.array_equal"] = "boolean", ["gpu.array_equiv"] = "boolean", ["gpu.allclose"] = "boolean", ["gpu.can_cast"] = "boolean",
  ["gpu.promote_types"] = "gpu.dtype", ["gpu.result_type"] = "gpu.dtype", ["gpu.divmod"] = "gpu.array, gpu.array",
  ["gpu.frexp"] = "gpu.array, gpu.array", ["gpu.modf"] = "gpu.array, gpu.array", ["gpu.nonzero"] = "gpu.array ...",
  ["gpu.meshgrid"] = "gpu.array ...", ["gpu.indices"] = "gpu.array ...", ["gpu.broadcast_arrays"] = "gpu.array ...",
  ["gpu.split"] = "gpu.array[]", ["gpu.array_split"] = "gpu.array[]", ["gpu.unstack"] = "gpu.array[]", ["gpu.topk"] = "gpu.array, gpu.array",
  ["gpu.histogram"] = "gpu.array, gpu.array", ["gpu.broadcast_shapes"] = "integer[]", ["gpu.gradient"] = "gpu.array ...",
  ["gpu.module"] = "gpu.module", ["gpu.link"] = "gpu.module", ["gpu.load_module"] = "gpu.module?, string?", ["gpu.kernel"] = "gpu.kernel", ["mod.kernel"] = "gpu.kernel",
  ["mod.constant"] = "gpu.array", ["gpu.stream"] = "gpu.stream", ["gpu.event"] = "gpu.event", ["gpu.device"] = "gpu.device, string?",
  ["gpu.graph"] = "gpu.graph, any ...", ["gpu.random.generator"] = "gpu.generator", ["gpu.item"] = "any", ["x.host"] = "any", ["gpu.table"] = "gpu.columns|table",
  ["gpu.host"] = "any", ["gpu.load"] = "any, string?", ["gpu.image.load"] = "gpu.array?, string?", ["gpu.unique"] = "gpu.array ...",
  ["gpu.fft.next_fast_len"] = "integer", ["gpu.fft.plans"] = "table[]", ["gpu.random.state"] = "table", ["gpu.einsum_path"] = "any",
  ["gpu.clock"] = "number", ["gpu.linalg.slogdet"] = "gpu.array, gpu.array", ["gpu.linalg.lu"] = "gpu.array, gpu.array, gpu.array",
  ["gpu.linalg.qr"] = "gpu.array, gpu.array", ["gpu.linalg.svd"] = "gpu.array, gpu.array, gpu.array", ["gpu.linalg.eigh"] = "gpu.array, gpu.array",
  ["gpu.linalg.eig"] = "gpu.array, gpu.array", ["gpu.linalg.lu_factor"] = "gpu.array, gpu.array",
  ["gpu.linalg.lstsq"] = "gpu.array, gpu.array, gpu.array, gpu.array", ["gpu.explain"] = "string", ["gpu.free"] = "nil",
  ["gpu.tril_indices"] = "gpu.array, gpu.array", ["gpu.triu_indices"] = "gpu.array, gpu.array", ["gpu.lexsort"] = "gpu.array",
  ["gpu.fuse"] = "function", ["gpu.sparse.csr"] = "gpu.sparse_matrix", ["gpu.sparse.csc"] = "gpu.sparse_matrix",
  ["gpu.sparse.coo"] = "gpu.sparse_matrix", ["gpu.sparse.issparse"] = "boolean", ["A.matmul"] = "gpu.array", ["A.todense"] = "gpu.array",
  ["A.toarray"] = "gpu.array", ["A.diagonal"] = "gpu.array", ["gpu.jit"] = "gpu.jit_kernel", ["j.over"] = "function", ["j.source"] = "string",
  ["gpu.from_arrow"] = "gpu.columns", ["t.isin"] = "gpu.array", ["t.column"] = "gpu.array", ["t.texts"] = "string[]", ["t.values"] = "table",
  ["t.group_by"] = "gpu.groups", ["gpu.rolling"] = "gpu.window", ["gpu.expanding"] = "gpu.window",
  ["x.rolling"] = "gpu.window", ["x.expanding"] = "gpu.window", ["gpu.dates"] = "gpu.dates", ["gpu.durations"] = "gpu.dates",
  ["gpu.date_range"] = "gpu.dates", ["d.format"] = "string[]", ["d.floor"] = "gpu.dates", ["d.add"] = "gpu.dates", ["d.as"] = "gpu.dates", ["d.shift"] = "gpu.dates", ["p.save"] = "boolean", ["p.show"] = "nil", ["gpu.plot.save"] = "boolean", ["gpu.plot.show"] = "nil",
  ["gpu.plot.animate"] = "boolean", ["gpu.window"] = "gpu.opengl_window", ["gpu.show"] = "nil", ["gpu.gl.buffer"] = "gpu.opengl_buffer",
  ["gpu.gl.buffer_from"] = "gpu.opengl_buffer", ["gpu.gl.texture_from"] = "gpu.opengl_image",
  ["gpu.gl.renderbuffer_from"] = "gpu.opengl_image", ["i.read"] = "gpu.array", ["i.write"] = "nil", ["i.release"] = "nil", ["w.buffer"] = "gpu.opengl_buffer", ["w.read"] = "gpu.array", ["w.is_open"] = "boolean",
  ["w.key"] = "boolean", ["w.pressed"] = "boolean", ["w.mouse"] = "table", ["w.save"] = "boolean", ["w.close"] = "nil", ["w.resize"] = "nil",
  ["w.clear"] = "nil", ["w.draw"] = "nil", ["w.lines"] = "nil", ["w.image"] = "nil", ["w.present"] = "nil", ["b.release"] = "nil",
}

-- What the other functions of a table and methods of a class give.
local results_of = {t = "gpu.columns", groups = "gpu.columns", p = "gpu.chart", ["gpu.plot"] = "gpu.chart"}

-- The chapters whose functions give an array.
local of_arrays = {}
for title in ([[Creation,Indexing,Shapes,Elementwise operations,Reductions,Scans,Reductions composed of others,Comparison of arrays,
  Differences and integrals,Sorting,Counting,Methods,Products,Vectors and tensors,Einstein sums,BLAS,Systems of equations,
  Eigenvalues and singular values,Norms, powers and special matrices,Fourier transforms,Convolutions,Windows,Random numbers,
  Images as arrays]]):gmatch "%s*([^,\n]+),?" do of_arrays[title] = true end

--- The letter of an object's class in the reference and in signatures, and the class.
local classes = {
  {"x", "gpu.array"}, {"k", "gpu.kernel"}, {"mod", "gpu.module"}, {"s", "gpu.stream"}, {"e", "gpu.event"}, {"graph", "gpu.graph"}, {"texture", "gpu.texture"},
  {"A", "gpu.sparse_matrix"}, {"g", "gpu.generator"}, {"device", "gpu.device"}, {"t", "gpu.columns"}, {"groups", "gpu.groups"},
  {"window", "gpu.window"}, {"d", "gpu.dates"},
  {"w", "gpu.opengl_window"}, {"b", "gpu.opengl_buffer"}, {"i", "gpu.opengl_image"}, {"p", "gpu.chart"}, {"j", "gpu.jit_kernel"},
}

local properties = {
  ["x.shape"] = "integer[]", ["x.ndim"] = "integer", ["x.size"] = "integer", ["x.dtype"] = "gpu.dtype", ["x.strides"] = "integer[]",
  ["x.nbytes"] = "integer", ["x.device"] = "string", ["x.T"] = "gpu.array", ["x.pointer"] = "number", ["k.name"] = "string",
  ["k.signature"] = "string", ["k.engine"] = "string", ["device.name"] = "string", ["device.kind"] = "string",
  ["device.description"] = "string", ["device.architecture"] = "string", ["mod.ptx"] = "string?", ["A.T"] = "gpu.sparse_matrix",
  ["A.shape"] = "integer[]", ["A.dtype"] = "gpu.dtype", ["A.device"] = "string", ["A.format"] = "string", ["A.data"] = "gpu.array",
  ["w.width"] = "integer", ["w.height"] = "integer", ["b.id"] = "integer", ["b.shape"] = "integer[]", ["b.dtype"] = "gpu.dtype",
  ["i.id"] = "integer", ["i.shape"] = "integer[]", ["i.dtype"] = "gpu.dtype",
  ["t.names"] = "string[]", ["A.indices"] = "gpu.array", ["A.indptr"] = "gpu.array", ["A.row"] = "gpu.array", ["A.col"] = "gpu.array",
}

-- ---- signatures -----------------------------------------------------------------------------------------------------------------

local keywords = {["repeat"] = true, ["end"] = true, ["function"] = true, ["in"] = true}

--- The parameters as a list of {name, optional}, and the text of the options' names.
local function read_signature(text)
  local inside = text:match "^[%w_.:]+(%b())"
  if not inside then return {}, nil end
  local parameters, depth = {}, 0
  local spaced = inside:sub(2, -2):gsub("%b{}", ""):gsub("[%[%]]", " %0 ")
  for token in spaced:gmatch "[^%s,]+" do
    if token == "[" or token == "]" then
      depth = depth + (token == "[" and 1 or -1)
    else
      parameters[#parameters + 1] = {token, depth > 0}
    end
  end
  return parameters, inside:match "{(.-)}"
end

local function options_type(options)
  local fields = {}
  for option in options:gmatch "[%w_]+" do fields[#fields + 1] = ("%s?: %s"):format(option, types[option] or "any") end
  local shape = "{" .. table.concat(fields, ", ") .. "}"
  -- The name of a dtype may take the options' place.
  return options:find "%f[%w]dtype%f[%W]" and shape .. "|gpu.dtype" or shape
end

-- ---- text -----------------------------------------------------------------------------------------------------------------------

local function without_links(text) return (text:gsub("%[([^%]]-)%]%(#[^)]*%)", "%1")) end

--- The description of an entry: the first paragraph, or the row, and the first example of its heading.
local function describe(entry)
  if entry.row then
    local cells = {}
    for i = 2, #entry.row.cells do
      local cell = entry.row.cells[i]
      if cell ~= "" then cells[#cells + 1] = (entry.row.head[i] == "takes" and "takes " or "") .. cell end
    end
    write("--- %s", without_links(#cells > 0 and table.concat(cells, "; ") or entry.section.title))
    return
  end
  local text, example = entry.block and entry.block.text, nil
  for _, block in ipairs(not text and entry.section.blocks or {}) do
    if block.kind == "text" then text = text or block.text end
    if block.kind == "code" then example = example or block.text end
  end
  write("--- %s", without_links(text or entry.section.title))
  if example then write("--- ```lua\n--- %s\n--- ```", (example:gsub("\n", "\n--- "))) end
end

--- Whether the entry's chapter, or the one around it, has functions that give arrays.
local function gives_array(entry)
  local section = entry.section
  while section do
    if of_arrays[section.title] then return true end
    section = section.parent
  end
  return false
end

-- ---- functions ------------------------------------------------------------------------------------------------------------------

--- The signature that calls are checked by; that of the reference for methods made in Lua.
local function signature_of(receiver, name, entry)
  if receiver == "p:" then return reference.of_chart(helpers.signature("gpu.plot.", name), name) end
  local found, signature = pcall(helpers.signature, receiver, name)
  return found and signature or entry.signature
end

--- A function: `receiver` and `name` as in signatures, `class` the table or variable that has it, `dot` "." or ":", and of a method
--- the class of the variable.
local function write_function(receiver, name, class, dot, type_of_self)
  local entry = assert(reference.find(receiver .. name), receiver .. name)
  local parameters, options = read_signature(signature_of(receiver, name, entry))
  describe(entry)
  local key, names, shown = receiver:gsub("^p:$", "gpu.plot."):gsub(":$", ".") .. name, {}, {}
  local is_plot = key:find "^gpu%.plot%."
  for _, parameter in ipairs(parameters) do
    local of, is_optional = parameter[1], parameter[2]
    local of_type = own_types[key] and own_types[key][of] or is_plot and plotted[of] or of == "x" and dot == "." and operand
      or types[of:gsub("%.%.%.$", "")] or "any"
    if of:find "%.%.%.$" then
      write("---@param ... %s", of_type == "any" and of_type or of_type .. (options and "|" .. options_type(options) or ""))
      names[#names + 1] = "..."
    else
      if keywords[of] then of = of .. "_" end
      write("---@param %s%s %s", of, is_optional and "?" or "", of_type)
      names[#names + 1] = of
      if not is_optional then shown[#shown + 1] = of .. ": " .. of_type end
    end
  end
  local given = results[key] or results_of[receiver:sub(1, -2)] or results["gpu." .. name] or (gives_array(entry) and "gpu.array") or "any"
  if options then
    if names[#names] ~= "..." then
      write("---@param options? %s", options_type(options))
      names[#names + 1] = "options"
      -- Options may stand where the first optional argument does.
      if dot == ":" then table.insert(shown, 1, "self: " .. type_of_self) end
      shown[#shown + 1] = "options: " .. options_type(options)
      if #shown < #names + (dot == ":" and 1 or 0) then write("---@overload fun(%s): %s", table.concat(shown, ", "), given) end
    end
  end
  write("---@return %s", given)
  if keywords[name] then
    write("%s[%q] = function(%s) end\n", class, name, table.concat(names, ", "))
  else
    write("function %s%s%s(%s) end\n", class, dot, name, table.concat(names, ", "))
  end
end

local function sorted(t)
  local names = {}
  for name, value in pairs(t) do
    if type(name) == "string" and type(value) ~= "number" then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

local function write_module(path, module)
  for _, name in ipairs(sorted(helpers.functions_of(module))) do
    local value = module[name]
    if type(value) == "function" then
      write_function(path .. ".", name, path, ".")
    elseif type(value) == "table" and getmetatable(value) then
      write("%s.%s = {}\n", path, name)
      write_module(path .. "." .. name, value)
    else
      local entry = reference.find(path .. "." .. name)
      if entry then describe(entry) end
      write("---@type %s\n%s.%s = nil\n", type(value) == "string" and "string" or "any", path, name)
    end
  end
end

local function write_class(letter, class)
  write("---@class %s%s", class, letter == "x" and ": userdata" or "")
  for _, entry in ipairs(reference.entries) do
    if entry.name:match "^(%a+)%." == letter then
      local text = entry.row and without_links(entry.row.cells[2] or "") or ""
      write("---@field %s %s %s", entry.name:match "[%w_]+$", properties[entry.name] or "number", text)
    end
  end
  if letter == "x" then
    for _, operator in ipairs {"add", "sub", "mul", "div", "mod", "pow"} do write("---@operator %s(%s): gpu.array", operator, operand) end
    write("---@operator unm: gpu.array\n---@operator len: integer\n---@overload fun(...: any): gpu.array\n---@field [any] any")
  elseif letter == "A" then
    write("---@operator mul(number): gpu.sparse_matrix\n---@operator len: integer\n---@field [any] any")
  elseif letter == "k" then
    write("---@overload fun(options: table): fun(...: any)")
  elseif letter == "j" then
    write("---@overload fun(...: any): fun(...: any)")
  elseif letter == "mod" then
    write("---@field [string] gpu.kernel")
  elseif letter == "t" then
    write("---@field [string] gpu.array")
  end
  write("local %s_ = {}\n", letter)
  for _, name in ipairs(sorted(objects.methods(letter) or {})) do write_function(letter .. ":", name, letter .. "_", ":", class) end
end

write [[
---@meta gpu
-- The module gpu for lua-language-server, made from docs/reference.md.

---@alias gpu.dtype "bool"|"int8"|"int16"|"int32"|"int64"|"uint8"|"uint16"|"uint32"|"uint64"|"float16"|"bfloat16"|"float32"|"float64"|"complex64"|"complex128"
]]
-- Files of the library that make classes. Nothing is computed here: no device may have been built.
local core = debug.getregistry()["gpulua.library"].core
for _, name in ipairs {"table", "table_groups", "rolling", "date_column", "window", "gl_images"} do core.import(name) end
for _, pair in ipairs(classes) do write_class(pair[1], pair[2]) end
write "---@class gpu\nlocal gpu = {}\n"
write_module("gpu", gpu)
write "return gpu"

local file = assert(io.open(output, "w"))
assert(file:write(table.concat(lines, "\n"), "\n"))
assert(file:close())
