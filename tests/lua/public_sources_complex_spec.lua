-- thrust::complex of public CUDA sources, against formulas over Lua's numbers.
local gpu = require "gpu"

local exp, log, sin, cos, sqrt, atan2, huge, pi = math.exp, math.log, math.sin, math.cos, math.sqrt, math.atan2, math.huge, math.pi

-- Complex numbers as tables of two numbers, by the formulas of textbooks.
local function C(re, im) return { re, im or 0 } end
local function add(x, y) return C(x[1] + y[1], x[2] + y[2]) end
local function sub(x, y) return C(x[1] - y[1], x[2] - y[2]) end
local function mul(x, y) return C(x[1] * y[1] - x[2] * y[2], x[1] * y[2] + x[2] * y[1]) end
local function norm(x) return x[1] ^ 2 + x[2] ^ 2 end
local function div(x, y) return C((x[1] * y[1] + x[2] * y[2]) / norm(y), (x[2] * y[1] - x[1] * y[2]) / norm(y)) end
local function arg(x) return atan2(x[2], x[1]) end
local function cexp(x) return C(exp(x[1]) * cos(x[2]), exp(x[1]) * sin(x[2])) end
local function clog(x) return C(log(norm(x)) / 2, arg(x)) end
local function pow(x, y) return cexp(mul(y, clog(x))) end
local function csqrt(x) return cexp(div(clog(x), C(2))) end
local one, i = C(1), C(0, 1)
local function csinh(x) return div(sub(cexp(x), cexp(sub(C(0), x))), C(2)) end
local function ccosh(x) return div(add(cexp(x), cexp(sub(C(0), x))), C(2)) end
local function ctanh(x) return div(csinh(x), ccosh(x)) end
local function asinh(x) return clog(add(x, csqrt(add(mul(x, x), one)))) end
local function acosh(x) return clog(add(x, mul(csqrt(add(x, one)), csqrt(sub(x, one))))) end
local function atanh(x) return div(sub(clog(add(one, x)), clog(sub(one, x))), C(2)) end
local function turned(f) return function(x) return div(f(mul(i, x)), i) end end

-- Of z and w: what C++ computes, and what the formulas give.
local functions = {
  { "z + w", add }, { "z - w", sub }, { "z * w", mul }, { "z / w", div }, { "-z", function(z) return sub(C(0), z) end }, { "+z", function(z) return z end },
  { "z + 2", function(z) return add(z, C(2)) end }, { "2 - z", function(z) return sub(C(2), z) end }, { "z - 2.5f", function(z) return sub(z, C(2.5)) end },
  { "2.5f * z", function(z) return mul(C(2.5), z) end }, { "z / 4", function(z) return div(z, C(4)) end }, { "T(3) / z", function(z) return div(C(3), z) end },
  { "C(abs(z), arg(z))", function(z) return C(sqrt(norm(z)), arg(z)) end }, { "C(norm(z))", function(z) return C(norm(z)) end },
  { "conj(z)", function(z) return C(z[1], -z[2]) end }, { "proj(z)", function(z) return z end },
  { "thrust::polar(w.real(), z.imag())", function(z, w) return C(w[1] * cos(z[2]), w[1] * sin(z[2])) end }, { "thrust::polar(z.real())", function(z) return C(z[1]) end },
  { "exp(z)", cexp }, { "log(z)", clog }, { "thrust::log10(z)", function(z) return div(clog(z), C(log(10))) end }, { "thrust::sqrt(z)", csqrt },
  { "pow(z, w)", pow }, { "thrust::pow(z, 3)", function(z) return mul(z, mul(z, z)) end }, { "pow(z, T(0.5))", function(z) return pow(z, C(0.5)) end },
  { "pow(2.5f, z)", function(z) return pow(C(2.5), z) end }, { "sinh(z)", csinh }, { "cosh(z)", ccosh }, { "tanh(z)", ctanh }, { "sin(z)", turned(csinh) },
  { "cos(z)", function(z) return ccosh(mul(i, z)) end }, { "tan(z)", turned(ctanh) }, { "asin(z)", turned(asinh) },
  { "acos(z)", function(z) return sub(C(pi / 2), turned(asinh)(z)) end }, { "atan(z)", turned(atanh) }, { "asinh(z)", asinh }, { "acosh(z)", acosh },
  { "thrust::atanh(z)", atanh },
}

local numbers = { C(1, 2), C(-0.5, 0.25), C(0.75, -1.5), C(-2, -0.125), C(0.5, 0.5), C(-1.25, 3) }

local function evaluate(dtype, expressions, z, w)
  local text = { ("#include <thrust/complex.h>\ntypedef %s T;\ntypedef thrust::complex<T> C;\n__global__ void k(C* out, C z, C w, T inf) {\n")
    :format(dtype == "complex64" and "float" or "double") }
  for n, expression in ipairs(expressions) do text[#text + 1] = ("  out[%d] = %s;\n"):format(n - 1, expression) end
  local out = gpu.zeros(#expressions, dtype)
  local mod = gpu.module(table.concat(text) .. "}")
  for index = 1, #z do
    mod.k { grid = 1, block = 1 }(out, gpu.complex(z[index][1], z[index][2]), gpu.complex(w[index][1], w[index][2]), huge)
    z[index].got = out:table()
  end
end

for dtype, tolerance in pairs { complex64 = 2e-6, complex128 = 4e-15 } do
  describe("thrust::complex, " .. dtype, function()
    it("has operators and functions", function()
      local expressions, others = {}, {}
      for n, case in ipairs(functions) do expressions[n] = case[1] end
      for n = 1, #numbers do others[n] = numbers[#numbers + 1 - n] end
      evaluate(dtype, expressions, numbers, others)
      for at, z in ipairs(numbers) do
        for n, case in ipairs(functions) do
          local want, got = case[2](z, others[at]), z.got[n]
          local off = sqrt((got.re - want[1]) ^ 2 + (got.im - want[2]) ^ 2) / (1 + sqrt(norm(want)))
          assert.is_true(off <= tolerance, ("%s of %g%+gi: %.17g%+.17gi, not %.17g%+.17gi"):format(case[1], z[1], z[2], got.re, got.im, want[1], want[2]))
        end
      end
    end)

    it("is C's at infinities and zeros, and does not overflow on the way", function()
      local large = dtype == "complex64" and "T(3e38f)" or "T(1.5e308)"
      local cases = {
        { "exp(C(0))", 1, 0 }, { "exp(C(-inf, inf))", 0, 0 }, { "log(C(0))", -huge, 0 }, { "sqrt(C(-4, T(0)))", 0, 2 }, { "sqrt(C(-4, -T(0)))", 0, -2 },
        { "sqrt(C(inf, 1))", huge, 0 }, { "pow(C(0), 2)", 0, 0 }, { "pow(C(0), C(0))", 1, 0 }, { "acos(C(0))", pi / 2, 0 }, { "tanh(C(inf, 1))", 1, 0 },
        { "tanh(C(1000, 1))", 1, 0 }, { "cosh(C(inf, T(0)))", huge, 0 }, { "proj(C(-1, -inf))", huge, 0 }, { "1 / proj(C(-1, -inf)).imag()", -huge, 0 },
        { "C(2, 2) / T(0)", huge, huge }, { "C(1, 1) / C(inf, 0)", 0, 0 }, { ("abs(C(%s, 1))"):format(large), "large", 0 },
        { "abs(C(-inf, inf - inf))", huge, 0 }, { ("C(%s, 1) / C(%s)"):format(large, large), 1, "small" },
        { ("norm(sqrt(C(%s, %s)) / T(1e4)) > 1"):format(large, large), 1, 0 }, { ("log(C(%s, %s)).imag()"):format(large, large), pi / 4, 0 },
        { "C(inf - inf) == C(inf - inf)", 0, 0 }, { "C(inf - inf) != 1", 1, 0 }, { "atan(C(inf))", pi / 2, 0 }, { "asinh(C(inf, 1)).real()", huge, 0 },
      }
      local expressions, at = {}, { C(1) }
      for n, case in ipairs(cases) do expressions[n] = case[1] end
      evaluate(dtype, expressions, at, { C(1) })
      for n, case in ipairs(cases) do
        local got = at[1].got[n]
        local re = case[2] == "large" and (dtype == "complex64" and 3e38 or 1.5e308) or case[2]
        local same = (got.re == re or math.abs(got.re - re) <= 1e-6 * math.abs(re)) and (case[3] == "small" or math.abs(got.im - case[3]) < 1e-6 or got.im == case[3])
        assert.is_true(same, ("%s: %g%+gi"):format(case[1], got.re, got.im))
      end
    end)
  end)
end

describe("thrust::complex", function()
  it("has members, and becomes other types of numbers", function()
    local out = gpu.zeros(8, "complex128")
    gpu.module([[
      #include <thrust/complex.h>
      typedef thrust::complex<float> F;
      typedef thrust::complex<double> D;
      static_assert(sizeof(F) == 8 && alignof(F) == 8 && sizeof(D) == 16 && alignof(D) == 16 && sizeof(F::value_type) == 4, "");
      template <class A, class B> struct same { enum { v = 0 }; };
      template <class A> struct same<A, A> { enum { v = 1 }; };
      static_assert(same<decltype(F() * D()), D>::v && same<decltype(F() + 2), F>::v && same<decltype(2.0 / F()), D>::v, "");
      __host__ __device__ F twice(F z) { return z * 2; }
      __host__ void host() { F z(1, 2); z = thrust::sqrt(z) * twice(z); }
      __global__ void k(D* out, F f) {
        __shared__ F kept[2];  // no constructor runs
        kept[threadIdx.x] = f;
        D z = kept[0];
        z += f; z -= 1; z *= D(0, 1); z /= 2; out[0] = z;
        z = 3; out[1] = z; z = f; out[2] = z; z.real(5); z.imag(z.imag() + 1); out[3] = z;
        z *= z; out[4] = z; z /= D(0, 2); out[5] = z;
        F g = D(1.5, 2.5); g -= 0.5; out[6] = twice(g);
        out[7] = D(f == D(1, 2) && D(1, 2) == f && f != 1 && 1 != f && F(1) == 1 && 1.0 == F(1) && !(f != f), D().real());
      }]]).k { grid = 1, block = 1 }(out, gpu.complex(1, 2))
    local got = {}
    for n, z in ipairs(out:table()) do got[n] = { z.re, z.im } end
    assert.are.same({ { -2, 0.5 }, { 3, 0 }, { 1, 2 }, { 5, 3 }, { 16, 30 }, { 15, -8 }, { 2, 5 }, { 1, 0 } }, got)
  end)
end)
