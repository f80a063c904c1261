-- Inline assembly in PTX: how its pieces work together, and its mistakes. tests/golden/kernels compares instructions with a GPU's results.
local gpu = require "gpu"
local support = require "support"
local on_cpu = gpu.device() == "cpu" or tostring(gpu.device()):find "cpu" ~= nil

--- The first `count` integers that a kernel with this body writes to out[t].
local function run(body, count, before)
  local out = gpu.zeros(count, "int64")
  local k = gpu.kernel((before or "") .. "__global__ void k(long long* out) { int t = threadIdx.x;" .. body .. "}", "k")
  k { grid = 1, block = count }(out)
  if on_cpu then assert.are.equal("simd", k.engine) end
  return out:table()
end

describe("inline PTX", function()
  it("carries from one piece of assembly to the next, through functions", function()
    local got = run([[
      unsigned low = add_cc(0xfffffff0u, t), middle = addc_cc(0xffffffffu, 0), high = addc(5, 7);
      out[t] = low + high * 1000000ll + (middle == 0 ? 100000000 : 0);]], 32, [[
      __device__ unsigned add_cc(unsigned a, unsigned b) { unsigned r; asm volatile("add.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); return r; }
      __device__ unsigned addc_cc(unsigned a, unsigned b) { unsigned r; asm volatile("addc.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); return r; }
      __device__ unsigned addc(unsigned a, unsigned b) { unsigned r; asm volatile("addc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); return r; }]])
    for t = 0, 31 do
      local carries = t >= 16
      local low = (0xfffffff0 + t) % 2 ^ 32
      assert.are.equal(low + (carries and 13 or 12) * 1000000 + (carries and 100000000 or 0), got[t + 1])
    end
  end)

  it("keeps names to their braces, and writes only where its predicate is true", function()
    local got = run([[
      int r = 1;
      asm("{ .reg .pred p; .reg .s32 x<2>; mov.s32 x0, %1; { .reg .s32 x0; mov.s32 x0, 100; add.s32 x1, x0, %1; }"
          " setp.gt.s32 p, x0, 3; @p mov.s32 %0, x1; @!p mov.s32 %0, x0; }  // a comment\n" : "=r"(r) : "r"(t));
      out[t] = r;]], 8)
    assert.are.same({ 0, 1, 2, 3, 104, 105, 106, 107 }, got)
  end)

  it("takes immediate numbers in all their forms", function()
    assert.are.same({ 31 + 255 + 5 - 7 + 2 }, run([[
      int r; float f;
      asm("{ .reg .s32 a; add.s32 a, 31, 0xff; add.s32 a, a, 0b101; add.s32 %0, a, -7; }" : "=r"(r));
      asm("add.f32 %0, 0f3F800000, %1;" : "=f"(f) : "f"(1.0f));
      out[t] = r + (int)f;]], 1))
  end)

  it("takes half registers and numbers that the compiler knows", function()
    assert.are.same({ 0x3c00 + 6 }, run([[
      unsigned short h; int r;
      asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(1.0f));
      asm("shl.b32 %0, %1, %2;" : "=r"(r) : "r"(3), "n"(1));
      out[t] = h + r;]], 1))
  end)

  it("computes with halves and pairs of them, rounded once", function()
    -- Halves are multiples of 2^-10 around 1: 1 + 1/1024 is 0x3c01, 2 is 0x4000, -1 is 0xbc00, NaN 0x7e00.
    local got = run([[
      short h; unsigned p;
      asm("add.f16 %0, %1, %2;" : "=h"(h) : "h"((short)0x3c01), "h"((short)0x3c01)); out[0] = (unsigned short)h;
      asm("mul.f16 %0, %1, %2;" : "=h"(h) : "h"((short)0x3c01), "h"((short)0x3c01)); out[1] = (unsigned short)h;
      asm("fma.rn.f16 %0, %1, %1, %2;" : "=h"(h) : "h"((short)0x3c01), "h"((short)0xbc02)); out[2] = (unsigned short)h;
      asm("fma.rn.relu.f16 %0, %1, %1, %2;" : "=h"(h) : "h"((short)0x3c01), "h"((short)0xc000)); out[3] = (unsigned short)h;
      asm("min.f16 %0, %1, %2;" : "=h"(h) : "h"((short)0x7e00), "h"((short)0x4000)); out[4] = (unsigned short)h;
      asm("max.NaN.f16 %0, %1, %2;" : "=h"(h) : "h"((short)0x7e00), "h"((short)0x4000)); out[5] = (unsigned short)h;
      asm("sub.f16x2 %0, %1, %2;" : "=r"(p) : "r"(0x40003c00), "r"(0x3c004000)); out[6] = p;
      asm("neg.bf16x2 %0, %1;" : "=r"(p) : "r"(0x3f80bf80)); out[7] = p;
      asm("fma.rn.bf16x2 %0, %1, %1, %1;" : "=r"(p) : "r"(0x3f804000)); out[8] = p;
      asm("tanh.approx.f16 %0, %1;" : "=h"(h) : "h"((short)0x4900)); out[9] = (unsigned short)h;]], 10)
    assert.are.same({ 0x4001, 0x3c02, 16, 0, 0x4000, 0x7fff, 0x3c00bc00, 0xbf803f80, 0x400040c0, 0x3c00 }, got)
  end)

  it("reads a clock of nanoseconds", function()
    local source = [[
      unsigned long long first, last;
      asm volatile("mov.u64 %0, %globaltimer;" : "=l"(first));
      for (int i = 0; i < 1000; ++i) asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(last));
      out[t] = t == 0 ? (long long)(first / 1000000000) : (long long)(last - first);]]
    local before = os.time()
    local got = run(source, 2)
    assert.is_true(math.abs(tonumber(got[1]) - before) < 3600 and got[2] >= 0 and got[2] < 1e9)
  end)

  it("converts to bytes by saturation", function()
    local got = run([[
      short h;
      float x[4] = {200.0f, -300.0f, 2.5f, -1.5f};
      asm("cvt.rni.sat.s8.f32 %0, %1;" : "=h"(h) : "f"(x[t])); out[t] = h;
      asm("cvt.rzi.sat.u8.f32 %0, %1;" : "=h"(h) : "f"(x[t])); out[t] += 1000 * h;]], 4)
    assert.are.same({ 127 + 200000, -128, 2 + 2000, -2 }, got)
  end)

  it("takes ldmatrix's number of matrices before and after their shape", function()
    local got = run([[
      __shared__ unsigned cells[128];
      for (int i = t; i < 128; i += 32) cells[i] = i;
      __syncthreads();
      unsigned row = (unsigned)__cvta_generic_to_shared(cells + 4 * t), a[4], b[4];
      asm volatile("ldmatrix.sync.aligned.x4.m8n8.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(row));
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3]) : "r"(row));
      out[t] = a[0] == t && a[3] == 96 + t && a[1] == b[1] && a[2] == b[2];]], 32)
    for lane = 1, 32 do assert.are.equal(1, got[lane]) end
  end)

  it("is found in templates, lambdas and members", function()
    assert.are.same({ 1 + 2 + 3 }, run([[
      auto popc = [](unsigned x) { int r; asm("popc.b32 %0, %1;" : "=r"(r) : "r"(x)); return r; };
      out[t] = popc(1) + Counter::zeros(0x3fffffffu) + ones<unsigned>(7);]], 1, [[
      template <class T> __device__ int ones(T x) { int r; asm("popc.b32 %0, %1;" : "=r"(r) : "r"(x)); return r; }
      struct Counter { __device__ static int zeros(unsigned x) { int r; asm("clz.b32 %0, %1;" : "=r"(r) : "r"(x)); return r; } };]]))
  end)

  it("waits at its barrier, and works in the checker", function()
    local source = [[__global__ void k(int* out) {
      __shared__ int s[64];
      int t = threadIdx.x;
      s[t] = t;
      asm volatile("bar.sync 0;" ::: "memory");
      asm volatile("ld.shared.s32 %0, [%1];" : "=r"(out[t]) : "r"((unsigned)__cvta_generic_to_shared(s + (t + 32) % 64)) : "memory");
    }]]
    local out = gpu.zeros(64, "int32")
    if on_cpu then gpu.check(true) end
    gpu.kernel(source, "k") { grid = 1, block = 64 }(out)
    gpu.sync()
    if on_cpu then gpu.check(false) end
    for t = 0, 63 do assert.are.equal((t + 32) % 64, out:table()[t + 1]) end
  end)

  it("declares arrays in shared memory", function()
    local source = [[__global__ void k(int* out) {
      __shared__ int other[64];
      int t = threadIdx.x;
      other[t] = -1;
      asm volatile(
        "{ .reg .u32 a; .shared .align 8 .b32 cells[64]; .shared.b8 more[0x10];"
        " mov.u32 a, cells; mad.lo.u32 a, %1, 4, a; st.shared.s32 [a], %1; bar.sync 0;"
        " xor.b32 a, %1, 1; .reg .u32 base; mov.u32 base, cells; mad.lo.u32 a, a, 4, base; ld.shared.s32 %0, [a];"
        " .reg.u32 b, c<2>; ld.shared.u32 b, [cells + 0x8]; add.u32 %0, %0, b; }"
        : "=r"(out[t]) : "r"(t) : "memory");
    }]]
    local out, want = gpu.zeros(64, "int32"), {}
    for t = 0, 63 do want[t + 1] = bit.bxor(t, 1) + 2 end
    gpu.kernel(source, "k") { grid = 1, block = 64 }(out)
    assert.are.same(want, out:table())
  end)

  it("ends a thread, in functions too", function()
    local before = [[
      __device__ __noinline__ int leave(int t) {
        asm volatile("{ .reg .pred p; setp.gt.s32 p, %0, 4; @p exit; }" :: "r"(t));
        return t + 1;
      }]]
    assert.are.same({ 1, 2, 3, 4, 5, -1, -1, -1 }, run("out[t] = -1; out[t] = leave(t);", 8, before))
    -- The others go on, over a barrier.
    assert.are.same({ 0, 6, 6, 6 }, run([[
      __shared__ int sum;
      if (t == 1) sum = 0;
      if (t == 0) asm volatile("exit;");
      atomicAdd(&sum, t);
      __syncthreads();
      out[t] = sum;]], 4))
  end)

  it("ends no thread in a function that calls itself", function()
    if not on_cpu then return end
    local k = gpu.kernel([[
      __device__ int leave(int t) { if (t == 0) asm volatile("exit;"); return t < 0 ? 0 : leave(t - 1) + 1; }
      __global__ void k(int* out) { *out = leave(1000); }]], "k", { options = { "--engine=scalar" } })
    support.fails("exit in inline PTX", function() k { grid = 1, block = 1 }(gpu.zeros(1, "int32")) gpu.sync() end)
  end)

  it("names the line and what is wrong", function()
    if not on_cpu then return end -- CUDA's assembler has messages of its own
    for text, message in pairs {
      ['"mbarrier.init.shared.b64 [%0], 1;" :: "r"(t)'] = "mbarrier",
      ['"bfe.u32 %0, %1;" : "=r"(t) : "r"(t)'] = "expected other operands",
      ['"mov.u32 %0, %1, %1;" : "=r"(t) : "r"(t)'] = "expected 2 operands, got 3",
      ['"add.s32 %1, %1, 1;" : "=r"(t) : "r"(t)'] = "got the input %1",
      ['"add.s32 %0, x, 1;" : "=r"(t)'] = "a register that the assembly declares",
      ['"mov.u32 %0, %%nothing;" : "=r"(t)'] = "register %nothing",
      ['"bar.sync 1;" ::: "memory"'] = "barrier 0",
      ['"bar.sync 0, 64;" ::: "memory"'] = "whole block",
      ['"again: bra again;" ::: "memory"'] = "an instruction of PTX",
      ['"ld.global.u32 %0, [%1];" : "=r"(t) : "r"(t)'] = "64 bits",
      ['"ld.global.v4.u32 {%0, %0}, [%1];" : "=r"(t) : "l"(out)'] = "as many registers",
      ['"setp.foo.s32 %0, 1, 2;" : "=r"(t)'] = "comparison",
      ['"st.async.global.u32 [%0], 1;" :: "l"(out)'] = "its part .async",
      ['"ld.shared::cluster.u32 %0, [%0];" : "+r"(t)'] = "its part .shared::cluster",
      ['"}" ::: "memory"'] = "opening brace",
      ['"nonsense" ::: "memory"'] = "nonsense",
    } do
      local source = "__global__ void k(int* out) {\n  int t = threadIdx.x;\n  asm volatile(" .. text .. ");\n  out[0] = t;\n}"
      local got = support.fails(message, gpu.module, source)
      assert.is_truthy(got:find(":3: in the inline PTX assembly", 1, true), got)
    end
  end)
end)
