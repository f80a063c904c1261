-- Inline assembly in PTX. A case is an instruction; its operands after the first are the inputs x, y, z and what is written out.
local letters = { uint = "r", int = "r", ull = "l", ll = "l", float = "f", double = "d" }
local c_types = { uint = "unsigned int", int = "int", ull = "unsigned long long", ll = "long long", float = "float", double = "double" }

local group, functions = {}, {}

local function add(name, text, inputs, output, more)
  local number = #group + 1
  local parameters, operands = {}, {}
  for k, input in ipairs(inputs) do
    parameters[k] = c_types[input] .. " " .. ("xyz"):sub(k, k)
    operands[k] = ('"%s"(%s)'):format(letters[input], ("xyz"):sub(k, k))
  end
  functions[number] = ('__device__ %s ptx_%d(%s) { %s r; asm volatile("%s" : "=%s"(r) : %s); return r; }'):format(
    c_types[output], number, table.concat(parameters, ", "), c_types[output], text, letters[output], table.concat(operands, ", "))
  local case = { name = name, inputs = inputs, output = output, count = 256,
    expression = ("ptx_%d(%s)"):format(number, ("x, y, z"):sub(1, 3 * #inputs - 2)) }
  for key, value in pairs(more or {}) do case[key] = value end
  group[number] = case
end

--- An instruction whose operands are its output and all inputs.
local function plain(name, inputs, output, more)
  local operands = {}
  for k = 1, #inputs do operands[k] = "%" .. k end
  add(name, ("%s %%0, %s;"):format(name, table.concat(operands, ", ")), inputs, output, more)
end

for _, t in ipairs { { "u32", "uint" }, { "s32", "int" }, { "u64", "ull" }, { "s64", "ll" } } do
  local word, type = t[1], t[2]
  for _, name in ipairs { "add", "sub", "mul.lo", "mul.hi", "min", "max" } do plain(name .. "." .. word, { type, type }, type) end
  for _, name in ipairs { "mad.lo", "mad.hi", "sad" } do plain(name .. "." .. word, { type, type, type }, type) end
  plain("shr." .. word, { type, "uint" }, type)
  plain("bfe." .. word, { type, "uint", "uint" }, type)
  add("bfe_in_range." .. word, "{ .reg .u32 p, n; and.b32 p, %2, 63; and.b32 n, %3, 63; bfe." .. word .. " %0, %1, p, n; }",
    { type, "uint", "uint" }, type)
  plain("bfind." .. word, { type }, "uint")
  plain("bfind.shiftamt." .. word, { type }, "uint")
  plain("cvt.rn.f32." .. word, { type }, "float")
  plain("cvt.rn.f64." .. word, { type }, "double")
  for _, mode in ipairs { "rni", "rzi", "rmi", "rpi" } do
    plain("cvt." .. mode .. "." .. word .. ".f32", { "float" }, type)
    plain("cvt." .. mode .. "." .. word .. ".f64", { "double" }, type)
  end
  for _, narrow in ipairs { "u8", "s8", "u16", "s16" } do
    plain(("cvt.%s.%s"):format(narrow, word), { type }, "int")
    plain(("cvt.sat.%s.%s"):format(narrow, word), { type }, "int")
  end
  -- A chain through all of a number: the result is its upper half.
  local chain = "{ .reg .%s t; %s.cc.%s t, %%1, %%2; %sc.cc.%s t, t, %%3; %sc.%s %%0, %%1, 1; }"
  for _, name in ipairs { "add", "sub" } do
    add(name .. ".cc." .. word, chain:format(word, name, word, name, word, name, word), { type, type, type }, type)
  end
  add("mad.cc." .. word, ("{ .reg .T t; mad.lo.cc.T t, %1, %2, %3; madc.hi.T %0, %1, %2, t; }"):gsub("T", word), { type, type, type }, type)
  for _, comparison in ipairs { "eq", "ne", "lt", "le", "gt", "ge" } do
    local name = ("setp.%s.%s"):format(comparison, word)
    add(name, ("{ .reg .pred p; %s p, %%1, %%2; selp.u32 %%0, 1, 0, p; }"):format(name), { type, type }, "uint")
  end
end
for _, t in ipairs { { "u32", "uint", "ull" }, { "s32", "int", "ll" } } do
  plain("mul.wide." .. t[1], { t[2], t[2] }, t[3])
  plain("mad.wide." .. t[1], { t[2], t[2], t[3] }, t[3])
  for _, part in ipairs { "lo", "hi" } do
    plain(("mul24.%s.%s"):format(part, t[1]), { t[2], t[2] }, t[2])
  end
  plain("mad24.lo." .. t[1], { t[2], t[2], t[2] }, t[2])
  plain(("dp4a.%s.%s"):format(t[1], t[1]), { t[2], t[2], t[2] }, t[2])
  plain(("dp2a.lo.%s.%s"):format(t[1], t[1]), { t[2], t[2], t[2] }, t[2])
  plain(("dp2a.hi.%s.%s"):format(t[1], t[1]), { t[2], t[2], t[2] }, t[2])
end
plain("add.sat.s32", { "int", "int" }, "int")
plain("sub.sat.s32", { "int", "int" }, "int")
plain("abs.s32", { "int" }, "int")
plain("neg.s32", { "int" }, "int")

for _, t in ipairs { { "b32", "uint" }, { "b64", "ull" } } do
  local word, type = t[1], t[2]
  for _, name in ipairs { "and", "or", "xor" } do plain(name .. "." .. word, { type, type }, type) end
  for _, name in ipairs { "not", "cnot", "brev" } do plain(name .. "." .. word, { type }, type) end
  for _, name in ipairs { "popc", "clz" } do plain(name .. "." .. word, { type }, "uint") end
  plain("shl." .. word, { type, "uint" }, type)
  add("shl_in_range." .. word, ("{ .reg .u32 n; and.b32 n, %%2, 63; shl.%s %%0, %%1, n; }"):format(word), { type, "uint" }, type)
  add("bfi." .. word, ("{ .reg .u32 n; shr.u32 n, %%3, 8; bfi.%s %%0, %%1, %%2, %%3, n; }"):format(word), { type, type, "uint" }, type)
  add("bfi_in_range." .. word, ("{ .reg .u32 p, n; and.b32 p, %%3, 63; bfe.u32 n, %%3, 8, 6; bfi.%s %%0, %%1, %%2, p, n; }"):format(word),
    { type, type, "uint" }, type)
end
for _, name in ipairs { "shf.l.wrap", "shf.r.wrap", "shf.l.clamp", "shf.r.clamp", "prmt" } do
  plain(name .. ".b32", { "uint", "uint", "uint" }, "uint")
end
for _, mode in ipairs { "f4e", "b4e", "rc8", "ecl", "ecr", "rc16" } do plain("prmt.b32." .. mode, { "uint", "uint", "uint" }, "uint") end
for _, code in ipairs { 0x96, 0xe8, 0xca, 0x1d, 0x80, 0x6a } do
  add(("lop3.b32.%#x"):format(code), ("lop3.b32 %%0, %%1, %%2, %%3, %#x;"):format(code), { "uint", "uint", "uint" }, "uint")
end
plain("bmsk.clamp.b32", { "uint", "uint" }, "uint")
plain("bmsk.wrap.b32", { "uint", "uint" }, "uint")
plain("vabsdiff4.u32.u32.u32.add", { "uint", "uint", "uint" }, "uint")

for _, t in ipairs { { "f32", "float" }, { "f64", "double" } } do
  local word, type = t[1], t[2]
  for _, mode in ipairs { "rn", "rz", "rm", "rp" } do
    for _, name in ipairs { "add", "sub", "mul", "div" } do plain(("%s.%s.%s"):format(name, mode, word), { type, type }, type) end
    plain(("fma.%s.%s"):format(mode, word), { type, type, type }, type)
    for _, name in ipairs { "sqrt", "rcp" } do plain(("%s.%s.%s"):format(name, mode, word), { type }, type) end
  end
  for _, name in ipairs { "min", "max", "copysign" } do plain(name .. "." .. word, { type, type }, type) end
  for _, name in ipairs { "neg", "abs" } do plain(name .. "." .. word, { type }, type) end
  for _, mode in ipairs { "rni", "rzi", "rmi", "rpi" } do plain(("cvt.%s.%s.%s"):format(mode, word, word), { type }, type) end
  for _, comparison in ipairs { "eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan" } do
    local name = ("setp.%s.%s"):format(comparison, word)
    add(name, ("{ .reg .pred p; %s p, %%1, %%2; selp.u32 %%0, 1, 0, p; }"):format(name), { type, type }, "uint")
  end
  for _, test in ipairs { "finite", "infinite", "notanumber", "number" } do
    local name = ("testp.%s.%s"):format(test, word)
    add(name, ("{ .reg .pred p; %s p, %%1; selp.u32 %%0, 1, 0, p; }"):format(name), { type }, "uint")
  end
end
plain("min.NaN.f32", { "float", "float" }, "float")
plain("max.NaN.f32", { "float", "float" }, "float")
for _, name in ipairs { "add", "mul" } do plain(name .. ".sat.f32", { "float", "float" }, "float") end
plain("fma.rn.sat.f32", { "float", "float", "float" }, "float")
plain("cvt.sat.f32.f32", { "float" }, "float")
plain("cvt.f64.f32", { "float" }, "double")
for _, mode in ipairs { "rn", "rz", "rm", "rp" } do plain(("cvt.%s.f32.f64"):format(mode), { "double" }, "float") end
plain("ex2.approx.f32", { "float" }, "float", { ulp = 4 })
plain("lg2.approx.f32", { "float" }, "float", { ulp = 4, absolute = 2 ^ -20 })
plain("rcp.approx.f32", { "float" }, "float", { ulp = 1 })
plain("sqrt.approx.f32", { "float" }, "float", { ulp = 4 })
plain("rsqrt.approx.f32", { "float" }, "float", { ulp = 4 })
-- From 0 to 3: the bounds are documented within a period.
for _, name in ipairs { "sin", "cos" } do
  add(name .. ".approx.f32", ("{ .reg .u32 u; .reg .f32 t; and.b32 u, %%1, 0xfffff; cvt.rn.f32.u32 t, u; mul.f32 t, t, 0f36400000; %s.approx.f32 %%0, t; }"):format(name),
    { "uint" }, "float", { absolute = 2 ^ -20 })
end
plain("tanh.approx.f32", { "float" }, "float", { ulp = 8192 })
plain("div.full.f32", { "float", "float" }, "float", { ulp = 2, range = { 0.1, 100 } })

-- Conversions of 16 bits, in registers of the assembly's own.
add("cvt.rn.f16.f32", "{ .reg .b16 h, z; cvt.rn.f16.f32 h, %1; mov.b16 z, 0; mov.b32 %0, {h, z}; }", { "float" }, "uint")
add("cvt.rn.f16x2.f32", "cvt.rn.f16x2.f32 %0, %1, %2;", { "float", "float" }, "uint")
add("cvt.f32.f16", "{ .reg .b16 l, h; mov.b32 {l, h}, %1; cvt.f32.f16 %0, l; }", { "uint" }, "float")
add("cvt.rn.bf16x2.f32", "cvt.rn.bf16x2.f32 %0, %1, %2;", { "float", "float" }, "uint")
add("cvt.rna.tf32.f32", "cvt.rna.tf32.f32 %0, %1;", { "float" }, "uint")

-- Packing, predicates with a second one, and instructions under a predicate.
add("mov.b64_pack", "mov.b64 %0, {%1, %2};", { "uint", "uint" }, "ull")
add("mov.b64_unpack", "{ .reg .u32 a, b; mov.b64 {a, b}, %1; xor.b32 %0, a, b; }", { "ull" }, "uint")
add("setp.and", "{ .reg .pred c, p, q; setp.lt.u32 c, %2, %3; setp.gt.and.u32 p|q, %1, %2, c; selp.u32 %0, 1, 0, p; @q add.u32 %0, %0, 2; }",
  { "uint", "uint", "uint" }, "uint")
add("predicate", "{ .reg .pred p; mov.u32 %0, 5; setp.lt.s32 p, %1, %2; @p mov.u32 %0, 7; @!p add.u32 %0, %0, %1; }", { "int", "int" }, "uint")

local numbers = {}
for i = 1, 64 do numbers[i] = i * 7654321 % 2 ^ 31 end
group.prologue = table.concat(functions, "\n") .. [[

__global__ void lanes(int* out) {
  int t = threadIdx.x, *o = out + t * 24, v = t * 10 + 1;
  asm("mov.u32 %0, %%laneid;" : "=r"(o[0])); asm("mov.u32 %0, %%lanemask_lt;" : "=r"(o[1])); asm("mov.u32 %0, %%lanemask_ge;" : "=r"(o[2]));
  asm("mov.u32 %0, %%tid.x;" : "=r"(o[3])); asm("mov.u32 %0, %%ntid.x;" : "=r"(o[4])); asm("mov.u32 %0, %%nctaid.y;" : "=r"(o[5]));
#define SHUFFLE(place, mode, b, c) \
  asm volatile("{ .reg .pred p; shfl.sync." mode ".b32 %0|p, %2, %3, %4, 0xffffffff; selp.s32 %1, 1, 0, p; }" \
    : "=r"(o[place]), "=r"(o[place + 1]) : "r"(v), "r"(b), "r"(c));
  SHUFFLE(6, "up", 3, 0) SHUFFLE(8, "up", 5, 24 << 8) SHUFFLE(10, "down", 3, 31) SHUFFLE(12, "down", 5, (24 << 8) | 7)
  SHUFFLE(14, "bfly", 9, 31) SHUFFLE(16, "idx", t + 3, (24 << 8) | 7) SHUFFLE(18, "idx", t + 3, 15)
  asm volatile("{ .reg .pred p; setp.gt.s32 p, %1, 200; vote.sync.ballot.b32 %0, p, 0xffffffff; }" : "=r"(o[20]) : "r"(v));
  asm volatile("match.any.sync.b32 %0, %1, 0xffffffff;" : "=r"(o[21]) : "r"(t % 5));
  asm volatile("redux.sync.add.s32 %0, %1, 0xffffffff;" : "=r"(o[22]) : "r"(v));
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.s32 %0, 1, 0, p; }" : "=r"(o[23]));
}
__device__ const __align__(16) int in[64] = {]] .. table.concat(numbers, ", ") .. [[};
__global__ void memory(int* out) {
  __shared__ __align__(16) int s[64];
  int t = threadIdx.x, *o = out + t * 10, a, b, c, d;
  unsigned place = (unsigned)__cvta_generic_to_shared(s + t);
  asm volatile("st.shared.s32 [%0], %1;" :: "r"(place), "r"(t * 3) : "memory");
  asm volatile("bar.sync 0;" ::: "memory");
  asm volatile("ld.shared.s32 %0, [%1];" : "=r"(o[0]) : "r"((unsigned)__cvta_generic_to_shared(s + (t ^ 1))) : "memory");
  asm volatile("ld.global.nc.L1::no_allocate.v4.s32 {%0, %1, %2, %3}, [%4+16];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(in + 4 * (t & 7)));
  o[1] = a; o[2] = b; o[3] = c; o[4] = d;
  asm volatile("ld.volatile.global.u8 %0, [%1];" : "=r"(o[5]) : "l"((const char*)in + t));
  asm volatile("ld.global.s8 %0, [%1];" : "=r"(o[6]) : "l"((const char*)in + t));
  asm volatile("bar.sync 0;\n\tcp.async.ca.shared.global [%0], [%1], 4;\n\tcp.async.commit_group;\n\tcp.async.wait_group 0;\n\tbar.sync 0;"
    :: "r"(place), "l"(in + t % 32) : "memory");
  o[7] = s[t ^ 2];
  __syncthreads();
  if (t % 8 == 0) asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n cp.async.wait_all;" :: "r"(place), "l"(in + t % 32), "r"(t % 24 / 2) : "memory");
  __syncthreads();
  o[8] = s[t];
  asm volatile("{ .reg .u64 p; cvta.to.global.u64 p, %0; st.global.s32 [p], %1; }" :: "l"(o + 9), "r"(t) : "memory");
  asm volatile("atom.global.add.u32 %0, [%1], 5;" : "=r"(a) : "l"(o + 9) : "memory");
  asm volatile("red.global.max.s32 [%0], 77;" :: "l"(o + 9) : "memory");
  if (a != t) o[9] = -1;
}
]]
group[#group + 1] = { name = "lanes", kernel = "lanes", block = 64, output = "int", count = 24 * 64 }
group[#group + 1] = { name = "memory", kernel = "memory", block = 64, output = "int", count = 10 * 64 }
return group
