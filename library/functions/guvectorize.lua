-- gpu.guvectorize: a Lua function of small arrays, which runs once for each small array in larger ones: a step. A wrapper that
-- takes the number of the step calls the function; gpu.vectorize or gpu.jit translates the wrapper.
-- In sandboxes: all
local gpu, _, core, import = ...
local checks, device_texts = import "checks", import "device_texts"

--- The dimensions of "(m,n),(n,p)": a list of lists. `what`: for messages.
local function parse_dimensions(op, text, what)
  local groups, at = {}, 1
  while at <= #text do
    local first, last, inside = text:find("^%(([%w_,]*)%)", at)
    if not first then core.raise(("[%s] expected dimensions as in \"(m,n),(n)\" for the %s, got \"%s\""):format(op, what, text)) end
    local names = {}
    for name in inside:gmatch "[^,]+" do names[#names + 1] = tonumber(name) or name end
    groups[#groups + 1] = names
    at = last + 1
    if at <= #text then
      if text:sub(at, at) ~= "," or at == #text then
        core.raise(("[%s] expected a comma between the dimensions of the %s, got \"%s\""):format(op, what, text))
      end
      at = at + 1
    end
  end
  return groups
end

--- {inputs =, outputs =} of "(m,n),(n)->(m)".
local function parse_signature(op, signature)
  if type(signature) ~= "string" then core.fail(op, "a signature as in \"(m,n),(n)->(m)\"", signature) end
  local inputs, outputs = signature:gsub("%s", ""):match "^(.-)%->(.*)$"
  if not inputs then core.fail(op, "a signature with \"->\", as in \"(m,n),(n)->(m)\"", signature) end
  local parsed = {inputs = parse_dimensions(op, inputs, "inputs"), outputs = parse_dimensions(op, outputs, "outputs")}
  if #parsed.outputs == 0 then core.fail(op, "at least one output, as in \"(n)->()\"", signature) end
  local known = {}
  for _, names in ipairs(parsed.inputs) do
    for _, name in ipairs(names) do known[name] = true end
  end
  for _, names in ipairs(parsed.outputs) do
    for _, name in ipairs(names) do
      if type(name) == "string" and not known[name] then
        core.raise(("[%s] %s is a dimension of an output and of no input in \"%s\""):format(op, name, signature))
      end
      parsed.has_arrays = true
    end
  end
  return parsed
end

--- The shape of the steps, and the sizes of the dimensions by name.
local function match_shapes(op, parsed, arguments)
  local sizes, loops = {}, {}
  for k, names in ipairs(parsed.inputs) do
    local x = arguments[k]
    local shape = core.is_array(x) and x.shape or {}
    if #shape < #names then
      core.fail(op, ("an array with %d dimensions or more as argument %d"):format(#names, k), x)
    end
    local loop = {}
    for axis = 1, #shape - #names do loop[axis] = shape[axis] end
    for j, name in ipairs(names) do
      local size = shape[#loop + j]
      local known = type(name) == "number" and name or sizes[name]
      if known and known ~= size then
        core.raise(("[%s] expected %d for the dimension %s of argument %d, got %d"):format(op, known, name, k, size))
      end
      sizes[name] = size
    end
    loops[k] = loop
  end
  local steps = {}
  for k, loop in ipairs(loops) do
    for from_end = 1, #loop do
      local size, other = loop[#loop + 1 - from_end], steps[from_end] or 1
      if size ~= other and size ~= 1 and other ~= 1 then
        local text = checks.shape_text(arguments[k].shape)
        core.raise(("[%s] the shape %s of argument %d does not broadcast to the others'"):format(op, text, k))
      end
      steps[from_end] = size == 1 and other or size
    end
  end
  local shape = {}
  for axis = 1, #steps do shape[axis] = steps[#steps + 1 - axis] end
  return shape, sizes, loops
end

--- The argument with the steps along its first axis, and true; the argument unchanged, and false, if all steps share it.
local function flatten(x, loop, steps, count)
  if #loop == 0 then return x, false end
  local inner, full, flat = x.shape, {}, {count}
  for axis, size in ipairs(steps) do full[axis] = size end
  for axis = #loop + 1, #inner do
    full[#full + 1] = inner[axis]
    flat[#flat + 1] = inner[axis]
  end
  return x:broadcast_to(full):reshape(flat), true
end

--- The text of the wrapper. `stepped`: which arguments have an element, or an array, for each step.
local function wrapper_text(parsed, stepped)
  local names, passed, written, results = {}, {}, {}, {}
  for k = 1, #parsed.inputs do
    names[k] = "a" .. k
    passed[k] = stepped[k] and ("a%d[i]"):format(k) or "a" .. k
  end
  for k, dimensions in ipairs(parsed.outputs) do
    local target = ("o%d[i]"):format(k)
    written[k] = "o" .. k
    if #dimensions == 0 then results[#results + 1] = target else passed[#passed + 1] = target end
  end
  local call = ("f(%s)"):format(table.concat(passed, ", "))
  if not parsed.has_arrays then
    local list = table.concat(names, ", ")
    return ("local f = ...\nlocal %s\nreturn function(i) return %s end, function(...) %s = ... end"):format(list, call, list)
  end
  local left = #results > 0 and table.concat(results, ", ") .. " = " or ""
  return ("local f, gpu = ...\nreturn function(count, %s)\n  local i = gpu.grid()\n  if i <= count then %s%s end\nend"):format(
    table.concat(names, ", ") .. ", " .. table.concat(written, ", "), left, call)
end

--- Copies the results to the arrays of `out`.
local function store(op, results, out)
  local targets = core.is_array(out) and {out} or out
  if type(targets) ~= "table" or #targets ~= #results then
    core.fail(op, #results == 1 and "out = an array" or ("out = a table of %d arrays"):format(#results), out)
  end
  for k, target in ipairs(targets) do checks.array(op, target):copy_(results[k]) end
  return unpack(targets)
end

--- gpu.guvectorize(signature, f [, {name, fmad, dtype}])
function gpu.guvectorize(signature, f, options)
  options = checks.fields("guvectorize", options)
  local op = options.name or "guvectorize"
  local parsed = parse_signature(op, signature)
  local written = 0
  for _, dimensions in ipairs(parsed.outputs) do written = written + (#dimensions > 0 and 1 or 0) end
  local remedy = written > 0 and ("; %s: function(%s) ... end"):format(
    written == 1 and "the last one is the array that it writes the result to" or "the last ones are the arrays that it writes the results to",
    ("abcdefgh"):sub(1, #parsed.inputs):gsub(".", "%0, ") .. (written == 1 and "out" or "out1, out2")) or nil
  core.check_step_function("guvectorize", f, #parsed.inputs + written,
    written == #parsed.outputs and #parsed.inputs + written or nil, remedy)
  local settings = {name = op, fmad = options.fmad}
  local wrappers = {}

  --- The results of a wrapper. Its errors name f, the script's function.
  local function results_of(ok, ...)
    if ok then return ... end
    local text = ...
    if type(text) ~= "string" then error(text, 0) end
    error(device_texts.message(text, f):gsub("number or a boolean, got the array ([%w_]+);.*", "number or a boolean, got the array %1; return a number, such as %1[1]"), 0)
  end

  --- The wrapper for all steps, one for each choice of the arguments that the steps share.
  local function wrapper(fn, stepped)
    local key = ""
    for k = 1, #stepped do key = key .. (stepped[k] and "1" or "0") end
    if not wrappers[key] then
      local step, set = loadstring(wrapper_text(parsed, stepped))(fn, gpu)
      wrappers[key] = {run = (parsed.has_arrays and gpu.jit or gpu.vectorize)(step, settings), set = set}
    end
    return wrappers[key]
  end

  return function(...)
    local count = #parsed.inputs
    local arguments, given = {...}, select("#", ...)
    local call = given == count + 1 and arguments[given] or nil
    if given < count or given > count + 1 then
      core.raise(("[%s] expected %d arguments and options, got %d"):format(op, count, given))
    end
    if given > count and not checks.is_options(call) then core.fail(op, "the option out, in a table", call) end
    for name in pairs(call or {}) do
      if name ~= "out" then core.raise(("[%s] expected the option out, got \"%s\""):format(op, name)) end
    end
    local shape, sizes, loops = match_shapes(op, parsed, arguments)
    local steps, device = 1, nil
    for _, size in ipairs(shape) do steps = steps * size end
    local stepped, arrays = {}, {}
    for k = 1, count do
      local x = arguments[k]
      if core.is_array(x) then
        device = device or x.device
        arrays[#arrays + 1] = x
        arguments[k], stepped[k] = flatten(x, loops[k], shape, steps)
      else
        stepped[k] = false
      end
    end
    local made, results = wrapper(f, stepped), nil -- gpu.fuse finds f here
    if parsed.has_arrays then
      results = {}
      local dtype = options.dtype or #arrays > 0 and gpu.result_type(unpack(arrays)) or gpu.default_dtype()
      for k, dimensions in ipairs(parsed.outputs) do
        local full = {steps}
        for j, name in ipairs(dimensions) do full[j + 1] = type(name) == "number" and name or sizes[name] end
        results[k] = gpu.zeros(full, {dtype = dtype, device = device})
        arguments[count + k] = results[k]
      end
      results_of(core.call(made.run:over(steps), steps, unpack(arguments, 1, count + #results)))
    else
      made.set(unpack(arguments, 1, count))
      results = {results_of(core.call(made.run, gpu.range(1, steps, 1, {dtype = "int64", device = device})))}
      made.set()
      if #results ~= #parsed.outputs then
        core.raise(("[%s] expected as many results as the signature has outputs, %d, got %d"):format(op, #parsed.outputs, #results))
      end
      for k, result in ipairs(results) do results[k] = options.dtype and result:astype(options.dtype) or result end
    end
    for k, result in ipairs(results) do
      local full = {unpack(shape)}
      for axis = 2, result.ndim do full[#full + 1] = result.shape[axis] end
      results[k] = result:reshape(full)
    end
    if call and call.out ~= nil then return store(op, results, call.out) end
    return unpack(results)
  end
end
