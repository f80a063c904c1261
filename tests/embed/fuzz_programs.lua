-- Writes hostile programs for fuzz.cpp: the examples of the documents and the attacks of attacks.lua, mutated, cut and joined, and
-- chains of calls of all functions that the library's signatures name. Gets the project's folder; returns generate(seed), a text.
local root = ...

local function read(path)
  local file = assert(io.open(root .. "/" .. path, "rb"))
  local text = file:read "*a"
  file:close()
  return text
end

-- ---- what programs are made of ------------------------------------------------------------------------------------------------

local corpus = {}
for _, path in ipairs {"README.md", "docs/guide.md", "docs/reference.md"} do
  for block in read(path):gmatch "\n```lua[^\n]*\n(.-)\n```" do corpus[#corpus + 1] = block end
end
local lists = assert(loadstring(read "tests/embed/attacks.lua"))()
for _, list in ipairs {"forever", "deep", "work", "outside"} do
  for _, text in ipairs(lists[list]) do
    corpus[#corpus + 1] = list == "outside" and "return " .. text or text
  end
end

local functions, methods = {}, {}
require "gpu"
for line in debug.getregistry()["gpulua.helpers"].signatures():gmatch "[^\n]+" do
  local name = line:match "^(gpu[%w_.]*)%("
  local method = line:match "^%l:([%w_]+)%(" or name and name:match "^gpu%.([%w_]+)$"
  if name then functions[#functions + 1] = name end
  if method then methods[#methods + 1] = method end
end

local values = {
  "0", "1", "2", "3", "-1", "0.5", "-0.0", "7", "100", "1/0", "-1/0", "0/0", "2^31", "-2^31", "2^31-1", "2^32", "2^53", "2^63", "-2^63",
  "1e308", "1e-308", "1e9", "1LL", "-1LL", "0ULL", "9223372036854775807LL", "18446744073709551615ULL", "1i", "nil", "true", "false", "''",
  "'x'", "'float64'", "'int8'", "'complex64'", "'bool'", "'float16'", "'same'", "'...'", "'1:2'", "'i,i->'", "'\\0'", "('x'):rep(1e5)",
  "{}", "{1}", "{0}", "{-1}", "{1,2}", "{2,1}", "{1,{2}}", "{{1,2},{3,4}}", "{2^31}", "{1e9,1e9}", "{2,0}", "{nil,1}", "{[0]=1}",
  "{axis=1}", "{axis={1,2}}", "{dtype='float64'}", "{dtype='int8'}", "{out=a}", "{out=b}", "{keepdims=true}", "{seed=1}", "{size=3}",
  "{n=2^31}", "{maxiter=1e9}", "{repeats=1}", "{which='LA'}", "{shape={2,2}}", "{callback=print}", "{x0=a}", "{mode='wrap'}",
  "print", "function(...) return ... end", "function() error 'x' end", "function(x) return x + 1 end", "function(x, y) return x * y end",
  "function() while true do end end", "function() return a end", "coroutine.yield", "string.rep", "rawequal", "setmetatable", "error",
  "setmetatable({}, {__index = function() while true do end end})", "setmetatable({}, {__index = function(_, k) return k end})",
  "setmetatable({1, 2}, {__index = function() return 2^31 end})", "setmetatable({}, {__tostring = function() return {} end})",
  "setmetatable({}, {__eq = function() return true end, __lt = function() return true end, __le = function() return true end})",
  "setmetatable({}, {__call = function(...) return ... end})", "coroutine.wrap(function() coroutine.yield(1) end)", "_G", "string", "gpu",
  "a", "b", "c", "a", "b", "c", "a.T", "a.shape", "a.strides", "a.dtype", "a(1)", "a({1, -1, 2})", "a[1]", "b:astype('int32')",
  "gpu.ones(3)", "gpu.zeros({0})", "gpu.ones(2,3)", "gpu.arange(6)", "gpu.arange(5,'float64')", "gpu.array({1,0,1},'bool')",
  "gpu.array({3,1,2},'int32')", "gpu.array({-1,99},'int64')", "gpu.full({2,2},0/0)", "gpu.eye(3)", "gpu.ones(1,1,2,2)", "gpu.rand(4,4)",
  "gpu.array(2)", "gpu.broadcast_to(gpu.ones(1), 5)", "gpu.full({3}, 1i)", "gpu.empty(1000)", "gpu.zeros(1000, 1000)",
  "gpu.sparse.csr(gpu.eye(3))", "gpu.sparse.coo({1,2},{2,1},{1,1})", "gpu.table{a={1,2,3}, b={3,2,1}}", "gpu.stream()", "gpu.event()",
  "gpu.random.generator('philox',{seed=1})", "gpu.fuse(function(x) return x + 1 end)", "gpu.random", "gpu.newaxis", "gpu.device()",
}

local replacements = {["+"] = "-", ["-"] = "*", ["*"] = "^", ["/"] = "%", ["=="] = "~=", ["<"] = ">=", ["and"] = "or", [".."] = "+", [":"] = ".",
  ["."] = ":", ["local"] = "", ["end"] = "end end", ["do"] = "do local", ["{"] = "(", [")"] = ")()", [","] = ", nil,", ["not"] = "#"}

local wrappers = {
  "pcall(function() %s end)", "xpcall(function() %s end, function(e) return e .. '!' end)", "coroutine.wrap(function() %s end)()",
  "gpu.scope(function() %s end)", "gpu.with(gpu.stream(), function() %s end)", "gpu.fuse(function(a) %s end)(gpu.ones(3))",
  "gpu.graph(function() %s end)", "for i = 1, 3 do %s end", "for i = 1, 1e4 do pcall(function() %s end) end",
  "('xx'):gsub('x', function() %s end)", "table.sort({3, 2, 1}, function(u, v) %s end)", "gpu.profile(function() %s end)",
  "local t = setmetatable({}, {__index = function() %s end}) return t.x", "assert(load([==[%s]==]))()",
  "local t = setmetatable({}, {__add = function() %s end}) return t + a", "gpu.benchmark(function() %s end, {repeats = 2})",
  "gpu.vectorize(function(x) %s end)(a)", "local co = coroutine.create(function() %s end) coroutine.resume(co) gpu.sync() coroutine.resume(co)",
  "gpu.apply_along_axis(function(x) %s end, 1, gpu.ones(2, 3))", "gpu.fromfunction(function() %s end, {2})",
}

-- ---- random choices ---------------------------------------------------------------------------------------------------------------

local state
local function random(n)
  state = state * 16807 % 2147483647
  return math.floor(state / 2147483647 * n) + 1
end
local function choose(list) return list[random(#list)] end

-- ---- mutation of programs -----------------------------------------------------------------------------------------------------------

local patterns = {"^%s+", "^%-%-[^\n]*", "^[%a_][%w_]*", "^%d[%w.]*", "^%[%[.-%]%]", "^\"[^\"\n]*\"", "^'[^'\n]*'", "^[=~<>]=", "^%.%.%.?", "^."}

local function tokens_of(text)
  local tokens, at = {}, 1
  while at <= #text do
    for _, pattern in ipairs(patterns) do
      local first, last = text:find(pattern, at)
      if first then
        tokens[#tokens + 1] = text:sub(first, last)
        at = last + 1
        break
      end
    end
  end
  return tokens
end

--- Mutations that mostly leave a program of Lua: other values, other functions.
local function change_value(tokens)
  for _ = 1, 20 do
    local at = random(#tokens)
    local token, before = tokens[at], tokens[at - 1]
    if token:find "^%d" or token:find "^[\"']" then
      tokens[at] = choose(values)
      return
    elseif token:find "^[%a_]" and (before == "." or before == ":") then
      tokens[at] = choose(methods)
      return
    elseif token == "," or token == "(" and tokens[at + 1] ~= ")" and before and before:find "^[%a_]" then
      tokens[at] = token == "," and ", " .. choose(values) .. "," or "(" .. choose(values) .. ", "
      return
    end
  end
end

local function change_structure(tokens)
  local at, kind = random(#tokens), random(4)
  if kind == 1 then
    table.remove(tokens, at)
  elseif kind == 2 then
    table.insert(tokens, at, choose(tokens))
  elseif kind == 3 then
    local other = random(#tokens)
    tokens[at], tokens[other] = tokens[other], tokens[at]
  else
    tokens[at] = replacements[tokens[at]] or choose(values)
  end
end

local function mutated(text)
  local tokens = tokens_of(text)
  for _ = 1, random(5) do
    if #tokens > 1 then (random(6) == 1 and change_structure or change_value)(tokens) end
  end
  return table.concat(tokens)
end

--- The first lines of one program and the last ones of another.
local function joined(one, other)
  local lines = {}
  for line in one:gmatch "[^\n]+" do lines[#lines + 1] = line end
  local first = {unpack(lines, 1, random(#lines))}
  for line in other:gmatch "[^\n]+" do first[#first + 1] = line end
  return table.concat(first, "\n")
end

-- ---- chains of calls ------------------------------------------------------------------------------------------------------------------

local function arguments()
  local list = {}
  for i = 1, random(4) - 1 do list[i] = choose(values) end
  return table.concat(list, ", ")
end

--- Calls whose results the next ones take; each may fail.
local function chain()
  local lines = {}
  for _ = 1, 2 + random(8) do
    local call = random(2) == 1 and choose(functions) .. "(" .. arguments() .. ")"
      or choose {"a", "b", "c"} .. ":" .. choose(methods) .. "(" .. arguments() .. ")"
    local target = choose {"a", "b", "c"}
    lines[#lines + 1] = ("pcall(function() local r = %s if r ~= nil then %s = r end end)"):format(call, target)
  end
  lines[#lines + 1] = "pcall(function() return tostring(a), gpu.eval(b) end) pcall(gpu.sync)"
  return table.concat(lines, "\n")
end

return function(seed)
  state = seed % 2147483646 + 1
  for _ = 1, 4 do random(1) end
  local kind, text = random(10), nil
  if kind <= 4 then
    text = chain()
  elseif kind <= 8 then
    text = mutated(choose(corpus))
  else
    text = mutated(joined(choose(corpus), choose(corpus)))
  end
  for _ = 1, math.max(0, random(5) - 3) do
    text = choose(wrappers):gsub("%%s", function() return "\n" .. text .. "\n" end)
  end
  return "local a, b, c = gpu.arange(6):reshape(2, 3) + 1, gpu.ones(3), gpu.array({2, 1}, 'int32')\n" .. text
end
