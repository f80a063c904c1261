-- libcu++'s headers: on a GPU the toolkit's, on the cpu device ours. Expected values are C++'s definitions.
local gpu = require "gpu"

local function values(headers, body, count)
  local source = ""
  for header in headers:gmatch "%S+" do source = source .. "#include <" .. header .. ">\n" end
  local out = gpu.zeros(count, "float64")
  gpu.kernel(source .. "__global__ void k(double* out) {" .. body .. "}", "k") { grid = 1, block = 1 }(out)
  return out:table()
end

describe("libcu++", function()
  it("has arrays, tuples, pairs and limits", function()
    assert.are.same({ 3, 6, 7, 2.5, 127, 1 }, values("cuda/std/array cuda/std/tuple cuda/std/utility cuda/std/limits", [[
      cuda::std::array<int, 3> a = {1, 2, 3};
      int sum = 0;
      for (int x : a) sum += x;
      auto t = cuda::std::make_tuple(7, 2.5);
      out[0] = a.size(); out[1] = sum; out[2] = cuda::std::get<0>(t); out[3] = cuda::std::get<1>(t);
      out[4] = cuda::std::numeric_limits<signed char>::max();
      out[5] = cuda::std::is_same<cuda::std::remove_const<const int>::type, int>::value;]], 6))
  end)

  it("counts bits", function()
    assert.are.same({ 4, 27, 3, 8, 16, 1, 5, 0x21, 1 }, values("cuda/std/bit cuda/std/cstdint", [[
      out[0] = cuda::std::popcount(0xf0u); out[1] = cuda::std::countl_zero(0x10u); out[2] = cuda::std::countr_zero((cuda::std::uint64_t)8);
      out[3] = cuda::std::bit_floor(15u); out[4] = cuda::std::bit_ceil(9u); out[5] = cuda::std::has_single_bit(64u);
      out[6] = cuda::std::bit_width(31u); out[7] = cuda::std::rotl((unsigned char)0x12, 4); out[8] = cuda::std::bit_cast<float>(0x3f800000u);]], 9))
  end)

  it("has optional values, spans and operations", function()
    assert.are.same({ 1, 5, 9, 0, 3, 20, 10, 4 }, values("cuda/std/optional cuda/std/span cuda/std/functional", [[
      cuda::std::optional<int> some = 5, none;
      out[0] = some.has_value(); out[1] = *some; out[2] = none.value_or(9); out[3] = (bool)none;
      int data[] = {10, 20, 3, 4};
      cuda::std::span<int> s(data, 4);
      out[4] = cuda::std::plus<>{}(1, 2); out[5] = s.subspan(1)[0]; out[6] = s.front(); out[7] = s.size();]], 8))
  end)

  it("has complex numbers, and functions of real ones beside them", function()
    local got = values("cuda/std/complex cuda/std/cmath", [[
      cuda::std::complex<double> z(3, 4), w = cuda::std::exp(cuda::std::complex<double>(0, 1)) * z;
      out[0] = cuda::std::abs(z); out[1] = cuda::std::norm(z); out[2] = w.real(); out[3] = w.imag(); out[4] = cuda::std::exp(1.0);
      out[5] = cuda::std::conj(z).imag(); out[6] = cuda::std::arg(z);]], 7)
    local c, s = math.cos(1), math.sin(1)
    local expected = { 5, 25, 3 * c - 4 * s, 4 * c + 3 * s, math.exp(1), -4, math.atan2(4, 3) }
    for i, x in ipairs(expected) do assert.is_true(math.abs(x - got[i]) < 1e-12, i .. ": " .. got[i]) end
  end)

  it("has atomic objects and references", function()
    local out = gpu.zeros(8, "int32")
    gpu.kernel([[
      #include <cuda/atomic>
      __device__ cuda::atomic<int, cuda::thread_scope_device> total;
      __global__ void k(int* out) {
        cuda::atomic_ref<int, cuda::thread_scope_device> count(out[0]), most(out[1]), bits(out[2]), swapped(out[3]);
        int t = blockIdx.x * blockDim.x + threadIdx.x;
        count.fetch_add(2, cuda::std::memory_order_relaxed);
        most.fetch_max(t);
        bits.fetch_or(1 << t % 8);
        int expected = swapped.load();
        while (!swapped.compare_exchange_weak(expected, expected + 3)) {}
        total.fetch_add(t);
        ++count;
        if (total.load(cuda::std::memory_order_acquire) == 999 * 1000 / 2) out[4] = 1;
        cuda::atomic_thread_fence(cuda::std::memory_order_seq_cst, cuda::thread_scope_device);
      }]], "k") { grid = 10, block = 100 }(out)
    assert.are.same({ 3000, 999, 255, 3000, 1, 0, 0, 0 }, out:table())
  end)

  it("has the largest and the smallest as operations", function()
    assert.are.same({ 7, 2 }, values("cuda/functional", "out[0] = cuda::maximum<>{}(7, 2); out[1] = cuda::minimum<>{}(7, 2);", 2))
  end)
end)

describe("cooperative_groups::memcpy_async", function()
  it("copies to shared memory", function()
    local x, out = gpu.arange(100, { dtype = "int32" }):eval(), gpu.zeros(100, "int32")
    gpu.kernel([[
      #include <cooperative_groups.h>
      #include <cooperative_groups/memcpy_async.h>
      namespace cg = cooperative_groups;
      __global__ void k(const int* x, int* out) {
        __shared__ int s[100];
        auto block = cg::this_thread_block();
        cg::memcpy_async(block, s, x, sizeof(int) * 100);
        cg::wait(block);
        for (int i = threadIdx.x; i < 100; i += blockDim.x) out[i] = s[99 - i];
      }]], "k") { grid = 1, block = 32 }(x, out)
    assert.are.same(x:flip():table(), out:table())
  end)
end)
