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

  it("knows types by all names of the standard", function()
    local answers, body = { 16, 1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1 }, {}
    local questions = {
      "alignment_of_v<double2>", "is_same_v<remove_all_extents_t<const int[2][3]>, const int>", "is_bounded_array_v<int[]>",
      "is_unbounded_array_v<int[]>", "is_member_pointer_v<int*>", "is_member_object_pointer_v<int Plain::*>",
      "is_member_function_pointer_v<int Plain::*>", "is_member_function_pointer_v<int (Plain::*)(int)>", "is_copy_constructible_v<Single>",
      "is_move_constructible_v<Single>", "is_trivially_copy_constructible_v<Plain>", "is_trivially_default_constructible_v<Single>",
      "is_nothrow_move_assignable_v<Plain>", "is_nothrow_destructible_v<Plain>", "is_destructible_v<void>", "is_aggregate_v<Plain>",
      "is_invocable_v<int (*)(int), char>", "is_invocable_r_v<void, int (*)(int), char>", "is_invocable_v<int (*)(int), Plain>",
      "is_assignable_v<int&, char>" }
    for i, question in ipairs(questions) do body[i] = ("out[%d] = %s;"):format(i - 1, question) end
    assert.are.same(answers, values("cuda/std/type_traits cuda/std/utility", [[
      struct Plain { int member; };
      struct Single {
        __device__ Single() {}
        Single(const Single&) = delete;
        __device__ Single(Single&&) {}
      };
      using namespace cuda::std;]] .. table.concat(body, "\n"), #answers))
  end)

  it("knows how numbers are rounded, and which have no limits", function()
    assert.are.same({ 1, 2, 3, 0, 1, 0, 0, 1, 1, 65535, 0 }, values("cuda/std/limits", [[
      out[0] = cuda::std::round_to_nearest; out[1] = cuda::std::round_toward_infinity; out[2] = cuda::std::round_toward_neg_infinity;
      out[3] = cuda::std::numeric_limits<int>::round_style; out[4] = cuda::std::numeric_limits<float>::round_style;
      out[5] = cuda::std::numeric_limits<int>::has_denorm; out[6] = cuda::std::numeric_limits<bool>::is_modulo;
      out[7] = isnan(cuda::std::numeric_limits<float>::signaling_NaN());
      out[8] = cuda::std::numeric_limits<volatile double>::is_iec559; out[9] = cuda::std::numeric_limits<char16_t>::max();
      out[10] = cuda::std::numeric_limits<void*>::digits;]], 11))
  end)

  it("lets sources say more of their own types, apart from std", function()
    local out = gpu.zeros(8, "int32")
    gpu.kernel([[
      #include <cuda/std/tuple>
      #include <cuda/std/limits>
      #include <cuda/std/type_traits>
      #include <tuple>
      struct Three { int data[3]; };
      struct Reference {};
      namespace cuda { namespace std {
      template <> struct tuple_size<Three> : integral_constant<size_t, 3> {};
      template <size_t index> struct tuple_element<index, Three> { using type = int; };
      template <> struct numeric_limits<Three> { static constexpr int digits = 31; };
      template <> struct is_reference<Reference> : true_type {};
      } }
      namespace std {
      template <> struct tuple_size<Three> : integral_constant<size_t, 3> {};
      template <size_t index> struct tuple_element<index, Three> { using type = int; };
      }
      template <class T> __device__ auto size(int) -> decltype(cuda::std::tuple_size<T>::value + 0) { return cuda::std::tuple_size<T>::value; }
      template <class T> __device__ int size(...) { return -1; }
      __global__ void k(int* out) {
        typedef cuda::std::tuple<int, double> Pair;
        out[0] = size<Three>(0); out[1] = size<const Three>(0); out[2] = size<Pair>(0); out[3] = size<int>(0);
        out[4] = cuda::std::is_same<cuda::std::tuple_element<1, Pair>::type, double>::value;
        out[5] = cuda::std::numeric_limits<Three>::digits;
        out[6] = cuda::std::is_reference<Reference>::value;
        out[7] = cuda::std::is_same<cuda::std::tuple_element<2, const Three>::type, const int>::value;
      }]], "k") { grid = 1, block = 1 }(out)
    assert.are.same({ 3, 3, 2, -1, 1, 31, 1, 1 }, out:table())
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

describe("cuda::barrier and cuda::pipeline", function()
  it("let a block's threads wait for each other", function()
    local out = gpu.zeros(8, "int32")
    gpu.kernel([[
      #include <cuda/barrier>
      __global__ void k(int* out, int n) {
        __shared__ cuda::barrier<cuda::thread_scope_block> bar;
        __shared__ int s[128];
        if (threadIdx.x == 0) init(&bar, blockDim.x);
        __syncthreads();
        int value = threadIdx.x;
        for (int round = 0; round < n; ++round) {
          s[threadIdx.x] = value;
          auto token = bar.arrive();
          bar.wait(cuda::std::move(token));
          value = s[(threadIdx.x + 40) % 128];
          bar.arrive_and_wait();
        }
        if (threadIdx.x < 8) out[threadIdx.x] = value;
      }]], "k") { grid = 1, block = 128 }(out, 7)
    assert.are.same({ 24, 25, 26, 27, 28, 29, 30, 31 }, out:table())  -- 7 * 40 % 128
  end)

  it("have threads that fill stages and others that empty them", function()
    local n = 64 * 20
    local x, out = gpu.arange(n, { dtype = "int32" }):eval(), gpu.zeros(n, "int32")
    gpu.kernel([[
      #include <cooperative_groups.h>
      #include <cuda/pipeline>
      __global__ void k(const int* x, int* out, int rounds) {
        __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 3> state;
        __shared__ int stage[3][64];
        auto block = cooperative_groups::this_thread_block();
        const bool fills = threadIdx.x < 64;
        auto pipe = cuda::make_pipeline(block, &state, fills ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
        const int lane = threadIdx.x % 64;
        for (int i = 0; i < rounds; ++i) {
          if (fills) {
            pipe.producer_acquire();
            cuda::memcpy_async(&stage[i % 3][lane], &x[i * 64 + lane], sizeof(int), pipe);
            pipe.producer_commit();
          } else {
            pipe.consumer_wait();
            out[i * 64 + lane] = stage[i % 3][63 - lane];
            pipe.consumer_release();
          }
        }
      }]], "k") { grid = 1, block = 128 }(x, out, 20)
    assert.are.same(x:reshape(20, 64):flip(2):reshape(-1):table(), out:table())
  end)

  it("have stages that all threads fill and empty", function()
    local n = 64 * 10
    local x, out = gpu.arange(n, { dtype = "int32" }):eval(), gpu.zeros(n, "int32")
    gpu.kernel([[
      #include <cooperative_groups.h>
      #include <cuda/pipeline>
      __global__ void k(const int* x, int* out, int rounds) {
        __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
        __shared__ int stage[2][64];
        auto block = cooperative_groups::this_thread_block();
        auto pipe = cuda::make_pipeline(block, &state);
        const int lane = threadIdx.x;
        for (int fetch = 0, i = 0; i < rounds; ++i) {
          for (; fetch < rounds && fetch < i + 2; ++fetch) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, stage[fetch % 2], x + fetch * 64, sizeof(int) * 64, pipe);
            pipe.producer_commit();
          }
          pipe.consumer_wait();
          out[i * 64 + lane] = stage[i % 2][63 - lane] + 1;
          pipe.consumer_release();
        }
      }]], "k") { grid = 1, block = 64 }(x, out, 10)
    assert.are.same((x:reshape(10, 64):flip(2):reshape(-1) + 1):table(), out:table())
  end)
end)
