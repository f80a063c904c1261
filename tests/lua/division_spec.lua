-- Quotients and roots are rounded to nearest, also in the long expressions in which they are computed together, and anew
-- where numbers are out of the ordinary. The reference is a kernel's own __fdiv_rn, __frcp_rn and __fsqrt_rn.
local gpu = require "gpu"

local source = [[
template <class T> struct Words;
template <> struct Words<float> {
  static __device__ float number(unsigned int bits) { return __uint_as_float(bits); }
  static __device__ float divide(float x, float y) { return __fdiv_rn(x, y); }
  static __device__ float reciprocal(float x) { return __frcp_rn(x); }
  static __device__ float root(float x) { return __fsqrt_rn(x); }
};
template <> struct Words<double> {
  static __device__ double number(unsigned long long bits) { return __longlong_as_double((long long)bits); }
  static __device__ double divide(double x, double y) { return __ddiv_rn(x, y); }
  static __device__ double reciprocal(double x) { return __drcp_rn(x); }
  static __device__ double root(double x) { return __dsqrt_rn(x); }
};

template <class T, class Bits> __global__ void make(T* out, const Bits* bits, long long n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) out[i] = Words<T>::number(bits[i]);
}

template <class T> __device__ bool differ(T a, T b) {
  return (a != a) != (b != b) || (a == a && (a != b || signbit(a) != signbit(b)));
}

// Counts the elements whose quotient, reciprocal or root is not the rounded one.
template <class T> __global__ void check(const T* x, const T* y, const T* quotient, const T* inverse, const T* root,
                                         unsigned long long* wrong, long long n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (differ(quotient[i], Words<T>::divide(x[i], y[i]))) atomicAdd(wrong, 1ull);
  if (differ(inverse[i], Words<T>::reciprocal(y[i]))) atomicAdd(wrong + 1, 1ull);
  if (differ(root[i], Words<T>::root(x[i]))) atomicAdd(wrong + 2, 1ull);
}
]]

-- Their least and greatest powers of two, and the unsigned integers as wide.
local types = {
  { dtype = "float32", least = 2 ^ -149, most = 2 ^ 127, c = "float", word = "unsigned int", bits = 32 },
  { dtype = "float64", least = 2 ^ -1074, most = 2 ^ 1023, c = "double", word = "unsigned long long", bits = 64 },
}

describe("division in long expressions", function()
  local count = gpu.device().name == "cpu" and 2 ^ 18 or 2 ^ 26

  --- Numbers of any bits.
  local function any(type)
    local function word() return gpu.random.integers(count, 0, 2 ^ 32, "uint64") end
    local bits = (type.bits == 64 and word():left_shift(32) + word() or word()):astype("uint" .. type.bits)
    local x = gpu.empty(count, type.dtype)
    gpu.kernel(source, ("make<%s, %s>"):format(type.c, type.word)) { grid = count / 256, block = 256 }(x, bits, count)
    return x
  end

  --- How many quotients, reciprocals and roots are not the rounded ones, of one kernel that computes them all.
  local function wrong(x, y, type)
    local quotient, inverse, root = gpu.eval(x / y, 1 / y, x:sqrt(), 1 / x, y:sqrt())
    local found = gpu.zeros(3, "uint64")
    local check = gpu.kernel(source, ("check<%s>"):format(type.c)) { grid = math.ceil(#x / 256), block = 256 }
    check(x, y, quotient, inverse, root, found, #x)
    return found:table()
  end

  for _, type in ipairs(types) do
    local dtype = type.dtype

    it("rounds any numbers to nearest: " .. dtype, function()
      gpu.random.seed(20)
      assert.are.same({ 0, 0, 0 }, wrong(any(type), any(type), type))
    end)

    it("rounds numbers of ordinary size to nearest: " .. dtype, function()
      gpu.random.seed(21)
      local x, y = gpu.random.uniform(count, 0.5, 4, dtype):eval(), gpu.random.uniform(count, 0.5, 4, dtype):eval()
      assert.are.same({ 0, 0, 0 }, wrong(x, y, type))
    end)

    it("takes zeros, infinities, NaN, subnormals and limits beside ordinary numbers: " .. dtype, function()
      local least, most = type.least, type.most
      local special = { 0, -0.0, 1, -1, 7, 1 / 3, 1 / 0, -1 / 0, 0 / 0, 2 ^ -100, 2 ^ -101, 2 ^ -900, 2 ^ -901,
        least, -least, 3 * least, least * 2 ^ 23, least * 2 ^ 24, least * 2 ^ 52, least * 2 ^ 53,
        most, -most, most / 2, most / 4, most / 8 }
      local xs, ys = {}, {}
      for _, x in ipairs(special) do
        for _, y in ipairs(special) do
          -- Which of a thread's neighbours is out of the ordinary changes.
          for _ = 1, #xs % 5 do xs[#xs + 1], ys[#ys + 1] = 2.5, 1.5 end
          xs[#xs + 1], ys[#ys + 1] = x, y
        end
      end
      assert.are.same({ 0, 0, 0 }, wrong(gpu.array(xs, dtype), gpu.array(ys, dtype), type))
    end)
  end

  it("is computed in place, where a number that is read anew must not have been written", function()
    for _, n in ipairs { 4096, 4099 } do
      local x = gpu.arange(n, "float32") % 7
      local expected = x:eval():table()
      for i, a in ipairs(expected) do expected[i] = math.sqrt(a / 3) / (a + 1) + math.sqrt(a) / (a + 2) end
      x:copy_((x / 3):sqrt() / (x + 1) + x:sqrt() / (x + 2))
      require("support").near(expected, x:table(), 1e-6)
    end
  end)
end)

-- The reference is the division by an array, whose kernel divides by each element.
describe("division of whole numbers by a number", function()
  local widths = { int8 = 8, uint8 = 8, int16 = 16, uint16 = 16, int32 = 32, uint32 = 32, int64 = 64, uint64 = 64 }

  --- Multiples of the divisors and their neighbours, both ends of the range, and numbers of any bits.
  local function dividends(dtype, divisors)
    local bits = widths[dtype]
    local any = gpu.random.integers(20000, 0, 2 ^ 32, "uint64")
    any = (any:left_shift(32) + gpu.random.integers(20000, 0, 2 ^ 32, "uint64")):right_shift(64 - bits)
    local parts = { any, any:right_shift(bits / 2), gpu.arange(300, "uint64"), math.max(2 ^ (bits - 1) - 150, 0) + gpu.arange(300, "uint64"),
      gpu.zeros(1, "uint64") - 1 - gpu.arange(300, "uint64") }
    for _, d in ipairs(divisors) do
      local each = gpu.full(500, d, { dtype = dtype }):eval()
      local multiples = (any({ 1, 500 }):astype(dtype):floor_divide(each) * each):astype "uint64"
      parts[#parts + 1] = gpu.concat { multiples - 1, multiples, multiples + 1 }
    end
    return gpu.concat(parts):astype(dtype):eval()
  end

  for dtype, bits in pairs(widths) do
    it("is exact for " .. dtype, function()
      local signed, divisors = dtype:sub(1, 1) == "i", { 0, 1, 2, 3, 5, 7, 10, 13, 64, 100, 127 }
      for _, power in ipairs { 14, 15, 30, 31, 32, 52 } do
        if power < bits - 1 then
          for i = -1, 1 do divisors[#divisors + 1] = 2 ^ power + i end
        end
      end
      local most = bits == 64 and 0x7fffffffffffffffLL or 2 ^ (signed and bits - 1 or bits) - 1
      for _, d in ipairs { most, most - 1, bits == 64 and 715827882600000007LL or math.floor(tonumber(most) / 3) } do
        divisors[#divisors + 1] = d
      end
      local count = #divisors
      if signed then
        for i = 1, count do divisors[#divisors + 1] = -divisors[i] end
        divisors[#divisors + 1] = -most - 1
      end
      local x = dividends(dtype, divisors)
      for _, d in ipairs(divisors) do
        local each = gpu.full(x.size, d, { dtype = dtype }):eval()
        assert.are.equal(dtype, x:floor_divide(d).dtype)
        local wrong = (x:floor_divide(d):ne(x:floor_divide(each))):sum() + ((x % d):ne(x:remainder(each))):sum()
        assert.are.equal(0, tonumber(wrong:item()), ("by %s"):format(tostring(d)))
      end
    end)
  end

  it("has a divisor anew in each call of the kernel, which other operations read too", function()
    local x = gpu.arange(1000, "int32") - 500
    for d = -3, 20 do
      local each = gpu.full(1000, d, { dtype = "int32" }):eval()
      local sum = (x:floor_divide(d) + x % d * d):sum() + d
      assert.are.equal(tonumber((x:floor_divide(each) + x:remainder(each) * each):sum():item()) + d, tonumber(sum:item()))
      assert.are.same((x:reshape(10, 100):remainder(each:reshape(10, 100))):sum(2):table(), (x:reshape(10, 100) % d):sum(2):table())
    end
  end)
end)
