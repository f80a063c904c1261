-- Random kernels, as CUDA C++ text and as Lua text that does the same, each made from one tree. Integers are 32 bits and wrap;
-- floats are rounded after each operation, so the two agree to the last bit where multiplications and additions are not fused.
--
-- A kernel reads `a` (64 ints) and `x` (64 floats), works on four int variables, three float variables, constants, an array of four
-- ints of its own and four ints in memory, and writes int and float results for its thread. Control flow: if, for, while, do,
-- switch with falling through, break, continue, return, at any depth, by conditions that all threads share and others. In every
-- other kernel threads also exchange values through shared memory, between barriers.

local ffi = require "ffi"
local bit = require "bit"

local generator = {}

-- ---- operations in Lua ----------------------------------------------------------------------------------------------------------

local rounded = ffi.new "float[1]"
local int32 = ffi.typeof "int32_t"
local int64 = ffi.typeof "int64_t"

local function f32(value)
  rounded[0] = value
  return rounded[0]
end

local operations = {
  f32 = f32,
  add = function(a, b) return bit.tobit(a + b) end,
  sub = function(a, b) return bit.tobit(a - b) end,
  mul = function(a, b) return tonumber(int32(int64(a) * b)) end,
  -- Truncating division; 0 and -1 as divisors are left out by the generator.
  div = function(a, b) return tonumber(int64(a) / int64(b)) end,
  rem = function(a, b) return tonumber(int64(a) % int64(b)) end,
  band = bit.band,
  bor = bit.bor,
  bxor = bit.bxor,
  shl = function(a, b) return bit.lshift(a, bit.band(b, 31)) end,
  shr = function(a, b) return bit.arshift(a, bit.band(b, 31)) end,
  ushr = function(a, b) return bit.tobit(bit.rshift(a, bit.band(b, 31))) end,
  to_int = function(value)
    if value ~= value then return 0 end
    if value >= 2147483647 then return 2147483647 end
    if value <= -2147483648 then return -2147483648 end
    return value < 0 and math.ceil(value) + 0 or math.floor(value)
  end,
  fmin = function(a, b)
    if a ~= a then return b end
    if b ~= b then return a end
    if a == b then return 1 / a < 0 and a or b end -- -0 is below 0
    return a < b and a or b
  end,
  fmax = function(a, b)
    if a ~= a then return b end
    if b ~= b then return a end
    if a == b then return 1 / a < 0 and b or a end
    return a > b and a or b
  end,
  sqrt = function(a) return f32(math.sqrt(a)) end,
}

-- ---- trees ------------------------------------------------------------------------------------------------------------------------

local Generator = {}
Generator.__index = Generator

-- An expression is a pair of texts: C++, Lua.
local function pair(cpp, lua) return { cpp = cpp, lua = lua } end

function Generator:pick(list) return list[self.random(#list)] end

local int_binary = {
  { "(int)((unsigned)(%s) + (unsigned)(%s))", "add(%s, %s)" },
  { "(int)((unsigned)(%s) - (unsigned)(%s))", "sub(%s, %s)" },
  { "(int)((unsigned)(%s) * (unsigned)(%s))", "mul(%s, %s)" },
  { "((%s) & (%s))", "band(%s, %s)" },
  { "((%s) | (%s))", "bor(%s, %s)" },
  { "((%s) ^ (%s))", "bxor(%s, %s)" },
  { "((%s) << ((%s) & 31))", "shl(%s, %s)" },
  { "((%s) >> ((%s) & 31))", "shr(%s, %s)" },
  { "(int)((unsigned)(%s) >> ((%s) & 31))", "ushr(%s, %s)" },
  { "((%s) / (((%s) & 15) + 1))", "div(%s, band(%s, 15) + 1)" },
  { "((%s) %% (((%s) & 15) + 1))", "rem(%s, band(%s, 15) + 1)" },
}
local float_binary = {
  { "(%s + %s)", "f32(%s + %s)" },
  { "(%s - %s)", "f32(%s - %s)" },
  { "(%s * %s)", "f32(%s * %s)" },
  { "(%s / %s)", "f32(%s / %s)" },
  { "fminf(%s, %s)", "fmin(%s, %s)" },
  { "fmaxf(%s, %s)", "fmax(%s, %s)" },
}
local comparisons = { { "<", "<" }, { "<=", "<=" }, { ">", ">" }, { "==", "==" }, { "!=", "~=" } }

function Generator:int_leaf()
  local kind = self.random(8)
  if kind <= 3 then
    local name = "i" .. self.random(0, 3)
    return pair(name, name)
  elseif kind >= 7 then
    local name = self:pick(self.known)
    return pair(name, name)
  elseif kind == 4 then
    local value = self:pick { 0, 1, 2, 3, 7, 31, 32, 255, -1, -2, 65535, 2147483647, -2147483647 }
    return pair("(" .. value .. ")", "(" .. value .. ")")
  elseif kind == 5 then
    return pair("t", "t")
  end
  return pair("lane", "lane")
end

function Generator:float_leaf()
  if self.random(4) > 1 then
    local name = "f" .. self.random(0, 2)
    return pair(name, name)
  end
  local value = self:pick { "0.0", "1.0", "-1.5", "0.25", "100.0", "-3.0" }
  return pair(value .. "f", value)
end

function Generator:condition(depth)
  if self.random(3) == 1 then
    local c = self:pick(comparisons)
    local l, r = self:float(depth - 1), self:float(depth - 1)
    return pair(("(%s %s %s)"):format(l.cpp, c[1], r.cpp), ("(%s %s %s)"):format(l.lua, c[2], r.lua))
  end
  local c = self:pick(comparisons)
  local l, r = self:int(depth - 1), self:int(depth - 1)
  return pair(("(%s %s %s)"):format(l.cpp, c[1], r.cpp), ("(%s %s %s)"):format(l.lua, c[2], r.lua))
end

function Generator:int(depth)
  if depth <= 0 then return self:int_leaf() end
  local kind = self.random(11)
  if kind <= 6 then
    local op = self:pick(int_binary)
    local l, r = self:int(depth - 1), self:int(depth - 1)
    return pair(op[1]:format(l.cpp, r.cpp), op[2]:format(l.lua, r.lua))
  elseif kind == 7 then
    local at = self:int(depth - 1)
    return pair(("a[(%s) & 63]"):format(at.cpp), ("a[band(%s, 63)]"):format(at.lua))
  elseif kind == 8 then
    local at = self:int(depth - 1)
    return pair(("own[(%s) & 3]"):format(at.cpp), ("own[band(%s, 3)]"):format(at.lua))
  elseif kind == 11 then
    local at = self:int(depth - 1)
    return pair(("mine[(%s) & 3]"):format(at.cpp), ("mine[band(%s, 3)]"):format(at.lua))
  elseif kind == 9 then
    local value = self:float(depth - 1)
    return pair(("to_int(%s)"):format(value.cpp), ("to_int(%s)"):format(value.lua))
  end
  local c, l, r = self:condition(depth - 1), self:int(depth - 1), self:int(depth - 1)
  -- 0 is true in Lua, so `and`/`or` choose among numbers as ?: does.
  return pair(("(%s ? %s : %s)"):format(c.cpp, l.cpp, r.cpp), ("(%s and %s or %s)"):format(c.lua, l.lua, r.lua))
end

function Generator:float(depth)
  if depth <= 0 then return self:float_leaf() end
  local kind = self.random(9)
  if kind <= 5 then
    local op = self:pick(float_binary)
    local l, r = self:float(depth - 1), self:float(depth - 1)
    return pair(op[1]:format(l.cpp, r.cpp), op[2]:format(l.lua, r.lua))
  elseif kind == 6 then
    local at = self:int(depth - 1)
    return pair(("x[(%s) & 63]"):format(at.cpp), ("x[band(%s, 63)]"):format(at.lua))
  elseif kind == 7 then
    local value = self:int(depth - 1)
    return pair(("(float)(%s)"):format(value.cpp), ("f32(%s)"):format(value.lua))
  elseif kind == 8 then
    local value = self:float(depth - 1)
    return pair(("sqrtf(fabsf(%s))"):format(value.cpp), ("sqrt(math.abs(%s))"):format(value.lua))
  end
  local c, l, r = self:condition(depth - 1), self:float(depth - 1), self:float(depth - 1)
  return pair(("(%s ? %s : %s)"):format(c.cpp, l.cpp, r.cpp), ("(%s and %s or %s)"):format(c.lua, l.lua, r.lua))
end

-- ---- statements: written to both texts at once ---------------------------------------------------------------------------------------

function Generator:write(cpp, lua)
  self.cpp[#self.cpp + 1] = cpp
  self.lua[#self.lua + 1] = lua
end

-- Lua has no `continue`: a loop's body is a block of its own, with a label after it. `loop` is the loop around, if any: its label,
-- and whether `break` leaves it.
function Generator:statement(depth, loop)
  local kind = depth > 0 and self.random(16) or self:pick { 1, 2, 3, 4, 13, 14 }
  if kind == 13 then
    local name, value = self:fresh "c", self:int(2)
    self:write(("const int %s = %s;"):format(name, value.cpp), ("local %s = %s"):format(name, value.lua))
    self.known[#self.known + 1] = name
  elseif kind == 14 then
    local at, value = self:int(1), self:int(2)
    self:write(("mine[(%s) & 3] = %s;"):format(at.cpp, value.cpp), ("mine[band(%s, 3)] = %s"):format(at.lua, value.lua))
  elseif kind == 15 then
    self:bounded_do(depth)
  elseif kind <= 2 then
    local name, value = "i" .. self.random(0, 3), self:int(2)
    self:write(("%s = %s;"):format(name, value.cpp), ("%s = %s"):format(name, value.lua))
  elseif kind == 3 then
    local name, value = "f" .. self.random(0, 2), self:float(2)
    self:write(("%s = %s;"):format(name, value.cpp), ("%s = %s"):format(name, value.lua))
  elseif kind == 4 then
    local at, value = self:int(1), self:int(2)
    self:write(("own[(%s) & 3] = %s;"):format(at.cpp, value.cpp), ("own[band(%s, 3)] = %s"):format(at.lua, value.lua))
  elseif kind <= 7 then
    local c = self:condition(2)
    self:write(("if %s {"):format(c.cpp), ("if %s then"):format(c.lua))
    self:block(depth - 1, loop)
    if self.random(2) == 1 then
      self:write("} else {", "else")
      self:block(depth - 1, loop)
    end
    self:write("}", "end")
  elseif kind == 8 then
    self:counted_loop(depth)
  elseif kind == 9 then
    self:bounded_while(depth)
  elseif kind == 10 then
    self:switch(depth, loop)
  elseif loop and (kind == 11 or kind == 16) then
    local c = self:condition(1)
    if loop.breaks and self.random(2) == 1 then
      self:write(("if %s break;"):format(c.cpp), ("if %s then break end"):format(c.lua))
    else
      self:write(("if %s continue;"):format(c.cpp), ("if %s then goto %s end"):format(c.lua, loop.label))
    end
  elseif kind == 12 and self.random(3) == 1 then
    local c = self:condition(1)
    self:write(("if %s { STORE; return; }"):format(c.cpp), ("if %s then return store(i0, i1, i2, i3, f0, f1, f2, own, mine) end"):format(c.lua))
  else
    local name, value = "i" .. self.random(0, 3), self:int(3)
    self:write(("%s = %s;"):format(name, value.cpp), ("%s = %s"):format(name, value.lua))
  end
end

function Generator:fresh(prefix)
  self.names = self.names + 1
  return prefix .. self.names
end

function Generator:counted_loop(depth)
  local counter, label, limit = self:fresh "k", self:fresh "next", self:int(1)
  -- The limit is computed once, because the body can change its operands.
  self:write(("{ const int limit = %s & 7; for (int %s = 0; %s < limit; ++%s) {"):format(limit.cpp, counter, counter, counter),
    ("for %s = 0, band(%s, 7) - 1 do do"):format(counter, limit.lua))
  self:write(("i0 = (int)((unsigned)i0 + (unsigned)%s);"):format(counter), ("i0 = add(i0, %s)"):format(counter))
  self:body(depth - 1, counter, label)
  self:write("} }", ("end ::%s:: end"):format(label))
end

function Generator:bounded_while(depth)
  local counter, label = self:fresh "w", self:fresh "next"
  local c = self:condition(1)
  self:write(("{ int %s = 0; while (%s++ < 6 && %s) {"):format(counter, counter, c.cpp),
    ("for %s = 1, 6 do if not %s then break end do"):format(counter, c.lua))
  self:body(depth - 1, counter, label)
  self:write("} }", ("end ::%s:: end"):format(label))
end

function Generator:bounded_do(depth)
  local counter, label = self:fresh "d", self:fresh "next"
  local c = self:condition(1)
  self:write(("{ int %s = 0; do {"):format(counter), ("for %s = 0, 5 do do"):format(counter))
  self:body(depth - 1, counter, label)
  self:write(("} while (++%s < 6 && %s); }"):format(counter, c.cpp), ("end ::%s:: if not %s then break end end"):format(label, c.lua))
end

--- A loop's: it knows the counter.
function Generator:body(depth, counter, label)
  self.known[#self.known + 1] = counter
  self:block(depth, { label = label, breaks = true })
  self.known[#self.known] = nil
end

function Generator:switch(depth, loop)
  local value = self:int(1)
  local state = self:fresh "s"
  local around = loop and { label = loop.label, breaks = false }
  self:write(("switch ((%s) & 3) {"):format(value.cpp), ("do local %s = band(%s, 3)"):format(state, value.lua))
  for case = 0, 2 do
    local falls = self.random(3) == 1
    self:write(("case %d: {"):format(case), ("if %s == %d then"):format(state, case))
    self:block(depth - 1, around)
    -- Falling through is being in the next case.
    self:write(falls and "}" or "} break;", falls and ("%s = %d end"):format(state, case + 1) or "end")
  end
  self:write("default: {", ("if %s == 3 then"):format(state))
  self:block(depth - 1, around)
  self:write("} }", "end end")
end

function Generator:block(depth, loop)
  local known = #self.known
  for _ = 1, self.random(1, 3) do self:statement(depth, loop) end
  for i = #self.known, known + 1, -1 do self.known[i] = nil end
end

--- Only where all threads that have not returned arrive.
function Generator:exchange()
  local from, to, distance = "i" .. self.random(0, 3), "i" .. self.random(0, 3), self.random(1, 39)
  self:write(("%s ^= exchange(shared, thread, threads, %s, %d);"):format(to, from, distance), ("%s = bxor(%s, exchange(%s, %d))"):format(to, to, from, distance))
end

function Generator:meeting_loop()
  local counter, turns = self:fresh "m", self.random(2, 4)
  self:write(("for (int %s = 0; %s < %d; ++%s) {"):format(counter, counter, turns, counter), ("for %s = 0, %d do"):format(counter, turns - 1))
  self:block(2, nil)
  self:exchange()
  self:block(2, nil)
  self:write("}", "end")
end

-- ---- kernels --------------------------------------------------------------------------------------------------------------------------

--- A small generator of random numbers of its own, so that a seed means the same kernel everywhere.
local function random_numbers(seed)
  local state = bit.bxor(bit.tobit(seed * 2654435761 % 4294967296), 0x5bd1e995)
  return function(low, high)
    if not high then low, high = 1, low end
    state = bit.bxor(state, bit.lshift(state, 13))
    state = bit.bxor(state, bit.rshift(state, 17))
    state = bit.bxor(state, bit.lshift(state, 5))
    return low + bit.band(bit.rshift(state, 3), 0x3ffffff) % (high - low + 1)
  end
end

generator.prelude = [[
__device__ int to_int(float v) { return (int)v; }
__device__ int exchange(int* shared, int thread, int threads, int value, int distance) {
  shared[thread] = value;
  __syncthreads();
  const int result = shared[(thread + distance) % threads];
  __syncthreads();
  return result;
}
#define STORE \
  ints[4 * t] = i0 ^ mine[0] ^ mine[1]; ints[4 * t + 1] = i1 ^ mine[2] ^ mine[3]; \
  ints[4 * t + 2] = i2 ^ own[0] ^ own[1]; ints[4 * t + 3] = i3 ^ own[2] ^ own[3]; \
  floats[3 * t] = f0; floats[3 * t + 1] = f1; floats[3 * t + 2] = f2
]]

--- The kernel of that number: its text, its name, whether threads meet, whether its blocks may have several rows, and
--- fn(t, lane, n, a, x, exchange) -> i0 ^ ..., i1 ^ ..., i2 ^ ..., i3 ^ ..., f0, f1, f2. exchange(value, distance) gives the value of
--- the thread that distance further on in the block.
function generator.make(seed)
  local self = setmetatable({ random = random_numbers(seed), cpp = {}, lua = {}, names = 0, known = { "n" } }, Generator)
  local meets, rows = seed % 2 == 0, seed % 4 == 3 or seed % 8 == 6
  for _ = 1, meets and 3 or 6 do
    self:statement(3, nil)
    if meets then
      if self.random(2) == 1 then self:exchange() else self:meeting_loop() end
    end
  end
  local name = "random_" .. seed
  local cpp = ([[
__global__ void %s(const int* a, const float* x, int* memory, int* ints, float* floats, int n) {
  const int thread = %s, threads = %s;
  const int t = %s, lane = t & 31;
  %s
  if (t >= n) return;
  int i0 = a[t & 63], i1 = t, i2 = lane, i3 = a[(t * 7) & 63];
  float f0 = x[t & 63], f1 = t, f2 = x[(t * 5) & 63];
  int own[4] = {1, 2, 3, 4};
  int* const mine = memory + 4 * t;
  for (int k = 0; k < 4; ++k) mine[k] = k + 5;
  %s
  STORE;
}
]]):format(name, rows and "threadIdx.y * blockDim.x + threadIdx.x" or "threadIdx.x", rows and "blockDim.x * blockDim.y" or "blockDim.x",
    rows and "blockIdx.x * threads + thread" or "blockIdx.x * blockDim.x + threadIdx.x",
    meets and "__shared__ int shared[64]; shared[thread] = 0; __syncthreads();" or "", table.concat(self.cpp, "\n  "))
  local lua = ([[
local f32, add, sub, mul, div, rem, band, bor, bxor, shl, shr, ushr, to_int, fmin, fmax, sqrt = ...
local function store(i0, i1, i2, i3, f0, f1, f2, own, mine)
  return bxor(i0, mine[0], mine[1]), bxor(i1, mine[2], mine[3]), bxor(i2, own[0], own[1]), bxor(i3, own[2], own[3]), f0, f1, f2
end
return function(t, lane, n, a, x, exchange)
  local i0, i1, i2, i3 = a[band(t, 63)], t, lane, a[band(t * 7, 63)]
  local f0, f1, f2 = x[band(t, 63)], t, x[band(t * 5, 63)]
  local own, mine = { [0] = 1, 2, 3, 4 }, { [0] = 5, 6, 7, 8 }
  %s
  return store(i0, i1, i2, i3, f0, f1, f2, own, mine)
end
]]):format(table.concat(self.lua, "\n  "))
  local o = operations
  local chunk = assert(loadstring(lua, name))
  local interpret = chunk(o.f32, o.add, o.sub, o.mul, o.div, o.rem, o.band, o.bor, o.bxor, o.shl, o.shr, o.ushr, o.to_int, o.fmin,
    o.fmax, o.sqrt)
  return { text = cpp, name = name, meets = meets, rows = rows, interpret = interpret }
end

return generator
