-- Products of matrices that a warp holds, nvcuda::wmma and PTX's mma and ldmatrix, against products in float64.
local gpu = require "gpu"
local support = require "support"
local on_cpu = gpu.device() == "cpu" or tostring(gpu.device()):find "cpu" ~= nil

--- The C++ type that elements are stored in, the arrays' dtype, the largest element, and the bound of the differences.
local kinds = {
  half = { c = "__half", array = "float16", bound = 2e-2 },
  bfloat16 = { c = "__nv_bfloat16", array = "bfloat16", bound = 2e-2 },
  tf32 = { c = "float", fragment = "precision::tf32", array = "float32", bound = 2e-2 },
  double = { c = "double", array = "float64", bound = 1e-13 },
  char = { c = "signed char", array = "int8", bound = 0, integer = true },
  uchar = { c = "unsigned char", array = "uint8", bound = 0, integer = true },
}

local function matrix(rows, columns, kind, seed)
  gpu.random.seed(seed)
  if kind.integer then
    return gpu.random.integers({ rows, columns }, kind.array == "int8" and -128 or 0, kind.array == "int8" and 127 or 255):astype(kind.array):eval()
  end
  return gpu.rand({ rows, columns }, "float64"):astype(kind.array):eval()
end

--- What D = A B + C has to be, in float64.
local function expected(a, b, c) return (a:astype "float64"):matmul(b:astype "float64") + c:astype "float64" end

local function near(bound, want, got)
  assert.is_true((want - got:astype "float64"):abs():max():item() <= bound, tostring(want) .. tostring(got))
end

describe("nvcuda::wmma with elements of 4 bits and 1 bit", function()
  --- Element `i` of a line of words, and the product of two such lines.
  local function element(words, line, per_line, bits, i)
    local per_word = 32 / bits
    local word = words[line * per_line + math.floor(i / per_word) + 1]
    return math.floor(word / 2 ^ (bits * (i % per_word))) % 2 ^ bits
  end
  local rules = {
    u4 = { bits = 4, k = 32, product = function(x, y) return x * y end },
    s4 = { bits = 4, k = 32, product = function(x, y) return (x < 8 and x or x - 16) * (y < 8 and y or y - 16) end },
    b1 = { bits = 1, k = 128, product = function(x, y) return x ~= y and 1 or 0 end, options = "" },
    ["b1 with and"] = { bits = 1, k = 128, product = function(x, y) return x * y end, options = ", experimental::bmmaBitOpAND" },
  }
  for name, rule in pairs(rules) do
    it(name, function()
      local per_line = 8 -- words: more than the matrix has
      local k = gpu.kernel([[
        #include <mma.h>
        using namespace nvcuda::wmma;
        __global__ void k(const unsigned* a, const unsigned* b, const int* c, int* d) {
          fragment<matrix_a, 8, 8, K, experimental::precision::T, row_major> left;
          fragment<matrix_b, 8, 8, K, experimental::precision::T, col_major> right;
          fragment<accumulator, 8, 8, K, int> sum;
          load_matrix_sync(left, a, STRIDE);
          load_matrix_sync(right, b, STRIDE);
          load_matrix_sync(sum, c, 8, mem_row_major);
          MMA;
          store_matrix_sync(d, sum, 8, mem_row_major);
        }]], "k", { defines = { K = rule.k, T = name:sub(1, 2), STRIDE = per_line * 32 / rule.bits,
          MMA = rule.options and "bmma_sync(sum, left, right, sum" .. rule.options .. ")" or "mma_sync(sum, left, right, sum)" } })
      gpu.random.seed(5)
      local function words() return gpu.random.integers({ 8 * per_line }, 0, 2 ^ 31):astype("uint32"):eval() * 2 + 1 end
      local a, b = words():eval(), words():eval()
      local c, d = gpu.arange(64):astype("int32"):eval(), gpu.zeros(64, "int32")
      k { grid = 1, block = 32 }(a, b, c, d)
      local x, y, got = a:table(), b:table(), d:table()
      for row = 0, 7 do
        for column = 0, 7 do
          local want = row * 8 + column
          for i = 0, rule.k - 1 do
            want = want + rule.product(element(x, row, per_line, rule.bits, i), element(y, column, per_line, rule.bits, i))
          end
          assert.are.equal(want, got[row * 8 + column + 1])
        end
      end
    end)
  end
end)

describe("nvcuda::wmma", function()
  local sums = { half = { "float", "__half" }, bfloat16 = { "float" }, tf32 = { "float" }, double = { "double" }, char = { "int" }, uchar = { "int" } }
  local shapes = { tf32 = { { 16, 16, 8 } }, double = { { 8, 8, 4 } } }
  for name, kind in pairs(kinds) do
    for _, sum in ipairs(sums[name]) do
      for _, shape in ipairs(shapes[name] or { { 16, 16, 16 }, { 32, 8, 16 }, { 8, 32, 16 } }) do
        local m, n, k = unpack(shape)
        it(("%s to %s, %dx%dx%d, in both layouts"):format(name, sum, m, n, k), function()
          local sum_dtype = ({ float = "float32", __half = "float16", double = "float64", int = "int32" })[sum]
          for _, is_row in ipairs { { true, false, true }, { false, true, false } } do
            local word = function(i) return is_row[i] and "row_major" or "col_major" end
            local source = ([[
              #include <mma.h>
              using namespace nvcuda::wmma;
              __global__ void k(const A* a, const A* b, const S* c, S* d) {
                fragment<matrix_a, M, N, K, FA, LA> x;
                fragment<matrix_b, M, N, K, FA, LB> y;
                fragment<accumulator, M, N, K, S> z, w;
                fill_fragment(z, (S)0.0f);
                load_matrix_sync(x, a, SA);
                load_matrix_sync(y, b, SB);
                load_matrix_sync(z, c, SC, LC);
                for (int i = 0; i < z.num_elements; ++i) w.x[i] = z.x[i];
                mma_sync(w, x, y, w);
                store_matrix_sync(d, w, SC, LC);
              }]]):gsub("%f[%w]%u+%f[%W]", {
              M = m, N = n, K = k, A = kind.c, FA = kind.fragment or kind.c, S = sum, LA = word(1), LB = word(2), LC = is_row[3] and "mem_row_major" or "mem_col_major",
              SA = is_row[1] and k or m, SB = is_row[2] and n or k, SC = is_row[3] and n or m,
            })
            local a, b, c = matrix(m, k, kind, 1), matrix(k, n, kind, 2), (gpu.rand({ m, n }, "float64") * 8):astype(sum_dtype):eval()
            local function laid(x, i) return is_row[i] and x or x:transpose():copy() end
            local d = gpu.zeros(is_row[3] and { m, n } or { n, m }, sum_dtype)
            local kernel = gpu.kernel(source, "k")
            kernel { grid = 1, block = 32 }(laid(a, 1), laid(b, 2), laid(c, 3), d)
            if on_cpu then assert.are.equal("simd", kernel.engine) end
            near(kind.bound, expected(a, b, c), laid(d, 3))
          end
        end)
      end
    end
  end

  it("holds integers to their range when asked", function()
    local source = [[
      #include <mma.h>
      using namespace nvcuda::wmma;
      __global__ void k(int* d, bool saturates) {
        fragment<matrix_a, 16, 16, 16, signed char, row_major> a;
        fragment<matrix_b, 16, 16, 16, signed char, col_major> b;
        fragment<accumulator, 16, 16, 16, int> c;
        fill_fragment(a, 100); fill_fragment(b, 100); fill_fragment(c, 2147483000);
        mma_sync(c, a, b, c, saturates);
        store_matrix_sync(d, c, 16, mem_row_major);
      }]]
    local d = gpu.zeros({ 16, 16 }, "int32")
    gpu.kernel(source, "k") { grid = 1, block = 32 }(d, true)
    assert.are.equal(2147483647, d:min():item())
  end)

  it("refuses a shape that there is not", function()
    if not on_cpu then return end
    support.fails("16x16x16", gpu.module, [[
      #include <mma.h>
      using namespace nvcuda::wmma;
      __global__ void k(__half* p) { fragment<matrix_a, 16, 16, 8, __half, row_major> a; load_matrix_sync(a, p, 8); }]])
  end)
end)

describe("mma.sync", function()
  -- Shape, type of the factors, and of the sums; how many elements a register has.
  local rows = {
    { 16, 8, 8, "f16", "f32", 2 }, { 16, 8, 16, "f16", "f32", 2 }, { 16, 8, 8, "bf16", "f32", 2 }, { 16, 8, 16, "bf16", "f32", 2 },
    { 16, 8, 4, "tf32", "f32", 1 }, { 16, 8, 8, "tf32", "f32", 1 }, { 16, 8, 16, "s8", "s32", 4 }, { 16, 8, 32, "s8", "s32", 4 },
    { 16, 8, 16, "u8", "s32", 4 }, { 16, 8, 32, "u8", "s32", 4 },
  }
  local kind_of = { f16 = kinds.half, bf16 = kinds.bfloat16, tf32 = kinds.tf32, s8 = kinds.char, u8 = kinds.uchar }
  for _, row in ipairs(rows) do
    local m, n, k, type, sum, per = unpack(row)
    it(("m%dn%dk%d of %s"):format(m, n, k, type), function()
      local kind, of_a = kind_of[type], m * k / 32 / per
      local list = function(first, count)
        local names = {}
        for i = first, first + count - 1 do names[#names + 1] = "%" .. i end
        return "{" .. table.concat(names, ", ") .. "}"
      end
      local operands = {}
      for i = 0, of_a - 1 do operands[#operands + 1] = ('"r"(x[%d])'):format(i) end
      for i = 0, of_a / 2 - 1 do operands[#operands + 1] = ('"r"(y[%d])'):format(i) end
      local letter = sum == "f32" and "f" or "r"
      -- Registers are filled by the documented layout: row g and column t of a register, g = lane / 4, t = lane % 4; B is by columns.
      local source = ([[
        #include <cuda_fp16.h>
        #include <cuda_bf16.h>
        __global__ void k(const FACTOR* p, const FACTOR* q, SUM* d) {
          const unsigned *a = (const unsigned*)p, *b = (const unsigned*)q;
          int lane = threadIdx.x, g = lane / 4, t = lane %% 4, words = %d;
          unsigned x[4], y[2];
          for (int i = 0; i < %d; ++i) x[i] = a[(g + i %% 2 * 8) * words + t + i / 2 * 4];
          for (int i = 0; i < %d; ++i) y[i] = b[g * words + t + i * 4];
          SUM z[4];
          for (int i = 0; i < 4; ++i) z[i] = d[(g + i / 2 * 8) * 8 + t * 2 + i %% 2];
          asm volatile("mma.sync.aligned.m%dn%dk%d.row.col.%s.%s.%s.%s {%%0, %%1, %%2, %%3}, %s, %s, {%%0, %%1, %%2, %%3};"
            : "+%s"(z[0]), "+%s"(z[1]), "+%s"(z[2]), "+%s"(z[3]) : %s);
          for (int i = 0; i < 4; ++i) d[(g + i / 2 * 8) * 8 + t * 2 + i %% 2] = z[i];
        }]]):format(k / per, of_a, of_a / 2, m, n, k, sum, type, type, sum, list(4, of_a), list(4 + of_a, of_a / 2), letter, letter, letter, letter,
        table.concat(operands, ", ")):gsub("SUM", sum == "f32" and "float" or "int"):gsub("FACTOR", kind.c)
      local a, b = matrix(m, k, kind, 3), matrix(n, k, kind, 4)
      local c = gpu.arange(m * n):astype(sum == "f32" and "float32" or "int32"):reshape(m, n):eval()
      local d = c:copy()
      local kernel = gpu.kernel(source, "k")
      kernel { grid = 1, block = 32 }(a, b, d)
      if on_cpu then assert.are.equal("simd", kernel.engine) end
      near(kind.bound, expected(a, b:transpose(), c), d)
    end)
  end

  it("adds in halves, and in float64", function()
    local source = [[
      #include <cuda_fp16.h>
      __global__ void halves(const __half* p, const __half* q, __half* o) {
        const unsigned *a = (const unsigned*)p, *b = (const unsigned*)q;
        unsigned* d = (unsigned*)o;
        int lane = threadIdx.x, g = lane / 4, t = lane % 4;
        unsigned z0 = 0, z1 = 0;
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%0, %1};"
          : "+r"(z0), "+r"(z1) : "r"(a[g * 4 + t]), "r"(a[(g + 8) * 4 + t]), "r"(b[g * 4 + t]));
        d[g * 4 + t] = z0;
        d[(g + 8) * 4 + t] = z1;
      }
      __global__ void doubles(const double* a, const double* b, double* d) {
        int lane = threadIdx.x, g = lane / 4, t = lane % 4;
        double z0 = 1, z1 = 2;
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
          : "+d"(z0), "+d"(z1) : "d"(a[g * 4 + t]), "d"(b[g * 4 + t]));
        d[g * 8 + 2 * t] = z0;
        d[g * 8 + 2 * t + 1] = z1;
      }]]
    local module = gpu.module(source)
    local a, b, d = matrix(16, 8, kinds.half, 5), matrix(8, 8, kinds.half, 6), gpu.zeros({ 16, 8 }, "float16")
    module.halves { grid = 1, block = 32 }(a, b, d)
    near(1e-2, expected(a, b:transpose(), gpu.zeros { 16, 8 }), d)
    a, b, d = matrix(8, 4, kinds.double, 7), matrix(8, 4, kinds.double, 8), gpu.zeros({ 8, 8 }, "float64")
    module.doubles { grid = 1, block = 32 }(a, b, d)
    near(1e-14, expected(a, b:transpose(), gpu.arange(64):reshape(8, 8) % 2 + 1), d)
  end)
end)

describe("ldmatrix", function()
  for _, transposed in ipairs { false, true } do
    it(transposed and "transposes" or "loads rows", function()
      local out = gpu.zeros({ 4, 32, 2 }, "uint16")
      gpu.kernel(([[
        __global__ void k(unsigned short* words) {
          unsigned* out = (unsigned*)words;
          __shared__ __align__(16) unsigned short s[4][8][8];
          int t = threadIdx.x;
          for (int i = t; i < 256; i += 32) (&s[0][0][0])[i] = i;
          __syncwarp();
          unsigned r[4], address = (unsigned)__cvta_generic_to_shared(&s[t / 8][t %% 8][0]);
          asm volatile("ldmatrix.sync.aligned.m8n8.x4%s.shared.b16 {%%0, %%1, %%2, %%3}, [%%4];"
            : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address) : "memory");
          for (int i = 0; i < 4; ++i) out[i * 32 + t] = r[i];
        }]]):format(transposed and ".trans" or ""), "k") { grid = 1, block = 32 }(out)
      local got = out:table()
      for i = 0, 3 do
        for lane = 0, 31 do
          for j = 0, 1 do
            local row, column = math.floor(lane / 4), lane % 4 * 2 + j
            if transposed then row, column = column, row end
            assert.are.equal(i * 64 + row * 8 + column, got[i + 1][lane + 1][j + 1])
          end
        end
      end
    end)
  end
end)
