-- Numbers of 6 and 4 bits of cuda_fp6.h and cuda_fp4.h, beside the nearest of all numbers of the format.
local gpu = require "gpu"

describe("tiny floats", function()
  local formats = {
    { type = "__nv_fp6_e3m2", kind = "__NV_E3M2", fp = "fp6", header = "cuda_fp6.h", fraction = 2, bias = 3, bits = 6 },
    { type = "__nv_fp6_e2m3", kind = "__NV_E2M3", fp = "fp6", header = "cuda_fp6.h", fraction = 3, bias = 1, bits = 6 },
    { type = "__nv_fp4_e2m1", kind = "__NV_E2M1", fp = "fp4", header = "cuda_fp4.h", fraction = 1, bias = 1, bits = 4 },
  }

  --- The numbers from 0 on, in the order of their bits.
  local function numbers(format)
    local list = {}
    for bits = 0, 2 ^ (format.bits - 1) - 1 do
      local exponent, steps = math.floor(bits / 2 ^ format.fraction), bits % 2 ^ format.fraction
      list[bits] = exponent == 0 and steps * 2 ^ (1 - format.bias - format.fraction)
        or (steps + 2 ^ format.fraction) * 2 ^ (exponent - format.bias - format.fraction)
    end
    return list
  end

  --- The bits of the nearest number, of two equally near ones the even bits.
  local function nearest(list, x, sign)
    local best, size = 0, math.min(math.abs(x), list[#list])
    for bits = 1, #list do
      local new, old = math.abs(list[bits] - size), math.abs(list[best] - size)
      if new < old or new == old and bits % 2 == 0 then best = bits end
    end
    if x ~= x then return #list end
    return best + ((x < 0 or 1 / x < 0) and sign or 0)
  end

  for _, format in ipairs(formats) do
    it("round and come back: " .. format.type, function()
      local list, sign = numbers(format), 2 ^ (format.bits - 1)
      local values = { 0, -0.0, 1e30, -1e30, 1 / 0, -1 / 0, 0 / 0, 1e-30, -1e-30 }
      for i = 0, #list do
        local low, high = list[i], list[i + 1] or list[i] * 1.5
        for _, x in ipairs { low, (low + high) / 2, low + (high - low) * 0.49, low + (high - low) * 0.51 } do
          values[#values + 1] = x
          values[#values + 1] = -x
        end
      end
      local n = #values
      local source = ([[
        #include <HEADER>
        __global__ void encode(const float* x, int* bits, int* of_double, int* of_half, int* function, float* back, int n) {
          const int i = threadIdx.x + blockIdx.x * blockDim.x;
          if (i >= n) return;
          const TYPE value(x[i]);
          bits[i] = value.__x;
          of_double[i] = TYPE((double)x[i]).__x;
          of_half[i] = TYPE(__float2half(x[i])).__x;
          function[i] = __nv_cvt_float_to_FP(x[i], KIND, cudaRoundNearest);
          back[i] = (float)value;
        }]]):gsub("HEADER", format.header):gsub("TYPE", format.type):gsub("FP", format.fp):gsub("KIND", format.kind)
      local x = gpu.array(values, "float32")
      local results = {}
      for i = 1, 4 do results[i] = gpu.zeros(n, "int32") end
      local back = gpu.zeros(n)
      gpu.kernel(source, "encode"):over(n)(x, results[1], results[2], results[3], results[4], back, n)
      for i = 1, n do
        local expected = nearest(list, values[i], sign)
        assert.are.equal(expected, results[1][i], "of " .. values[i])
        assert.are.equal(expected, results[2][i], "of the double " .. values[i])
        assert.are.equal(expected, results[4][i], "by the function, of " .. values[i])
        local half = gpu.array({ values[i] }, "float32"):astype("float16"):astype("float32")[1]
        assert.are.equal(nearest(list, half, sign), results[3][i], "of the half " .. values[i])
        assert.are.equal(list[expected % sign] * (expected >= sign and -1 or 1), back[i])
      end
    end)

    it("are in vectors: " .. format.type, function()
      local two, four = format.type:gsub("_fp(%d)_", "_fp%1x2_"), format.type:gsub("_fp(%d)_", "_fp%1x4_")
      local source = ([[
        #include <HEADER>
        __global__ void k(float* out, int* bits) {
          const TWO a(make_float2(1.0f, -2.0f)), b(__floats2half2_rn(0.5f, 4.0f));
          const FOUR c(make_float4(1.0f, -1.5f, 3.0f, -0.5f));
          const float2 x = (float2)a, y = (float2)b;
          const float4 z = (float4)c;
          const float all[8] = {x.x, x.y, y.x, y.y, z.x, z.y, z.z, z.w};
          for (int i = 0; i < 8; ++i) out[i] = all[i];
          bits[0] = sizeof(a) * 10 + sizeof(c);
          bits[1] = FIRST(1.0f).__x | FIRST(-2.0f).__x << SHIFT;
          bits[2] = a.__x;
        }]]):gsub("HEADER", format.header):gsub("TWO", two):gsub("FOUR", four):gsub("FIRST", format.type):gsub("SHIFT", format.bits == 4 and 4 or 8)
      local out, bits = gpu.zeros(8), gpu.zeros(3, "int32")
      gpu.kernel(source, "k"){ grid = 1, block = 1 }(out, bits)
      assert.are.same({ 1, -2, 0.5, 4, 1, -1.5, 3, -0.5 }, out:table())
      assert.are.equal(format.bits == 4 and 12 or 24, bits[1])
      assert.are.equal(bits[2], bits[3])
    end)
  end
end)
