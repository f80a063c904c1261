// Threads of a block that wait for each other on the CPU device: what goes wrong, and how it stops.

#include <chrono>
#include <thread>

#include "src/base/error.h"
#include "tests/catch.h"
#include "tests/unit/cpu_test_device.h"

using namespace gpulua;

TEST_CASE("cpu: threads that wait for each other for ever are an error", "[cpu]") {
  CpuTestDevice device;
  auto module = device.compile(R"(__global__ void barrier(int* x) {
      if (threadIdx.x < 17)
        __syncthreads();
      x[threadIdx.x] = __shfl_sync(~0u, 1, 0); }
    __global__ void exited(int* x) {
      if (threadIdx.x >= 40) return;
      if (threadIdx.x < 10) { __syncthreads(); return; }
      if (threadIdx.x < 32) __syncwarp(~0u);
      __syncthreads(); }
    __global__ void lane() { if (threadIdx.x == 3) __ballot_sync(7, 1); })",
                               {}, {"--engine=scalar"});
  int x[64] = {};
  CHECK(
      message_of([&] { device.launch(*device.kernel(module, "barrier"), one_dimension(2, 32), &x[0]); }) ==
      "[launch] kernel 'barrier': script.lua:12: __syncthreads() was reached by 17 of 32 threads; a warp shuffle with "
      "the mask 0xffffffff was reached by 15 of its 32 threads, warp 0, block (0,0,0)");
  CHECK(message_of([&] { device.launch(*device.kernel(module, "exited"), one_dimension(1, 64), &x[0]); }) ==
        "[launch] kernel 'exited': script.lua:16: __syncthreads() was reached by 18 of 40 threads (24 others have "
        "exited); __syncwarp() with the mask 0xffffffff was reached by 22 of its 32 threads, warp 0, block (0,0,0)");
  CHECK(message_of([&] { device.launch(*device.kernel(module, "lane"), one_dimension(1, 32)); }) ==
        "[launch] kernel 'lane': a warp operation's mask does not name lane 3 which calls it, block (0,0,0), thread "
        "(3,0,0)");
}

TEST_CASE("cpu: a failure leaves a block's other threads where they are, and the next launch runs", "[cpu]") {
  CpuTestDevice device;
  auto module = device.compile(R"(__device__ __noinline__ void check(int* x, int bad) {
      __syncthreads();
      assert(threadIdx.x != bad);
      __syncthreads();
      x[threadIdx.x] += 1; }
    __global__ void k(int* x, int bad) { check(x, bad); check(x, bad); })");
  auto kernel = device.kernel(module, "k");
  int x[256] = {};
  for (int bad : {0, 100, 255, 256})
    CHECK_THAT(message_of([&] { device.launch(*kernel, one_dimension(1, 256), &x[0], bad); }),
               Catch::Matchers::Equals(
                   bad == 256 ? "(nothing thrown)"
                              : "[launch] kernel 'k': script.lua:12: assertion 'threadIdx.x != bad' failed, "
                                "block (0,0,0), thread (" +
                                    std::to_string(bad) + ",0,0)"));
  for (int value : x) REQUIRE(value == 2);
}

TEST_CASE("cpu: threads at barriers and spinning ones are interrupted", "[cpu]") {
  CpuTestDevice device;
  auto module = device.compile(R"(
    __global__ void barriers(int* x) { for (;;) { __syncthreads(); x[threadIdx.x] += 1; } }
    __global__ void spins(int* x) { __shared__ volatile int flag; flag = 0; __syncthreads();
      while (flag == 0) {}
      x[threadIdx.x] += 1; })");
  int x[64] = {};
  for (const char* name : {"barriers", "spins"}) {
    auto kernel = device.kernel(module, name);
    std::thread user([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      device.interrupted().store(true);
    });
    CHECK_THAT(message_of([&] { device.launch(*kernel, one_dimension(2, 64), &x[0]); }),
               Catch::Matchers::ContainsSubstring("[launch] interrupted"));
    user.join();
  }
}

TEST_CASE("cpu: recursion and large local arrays have room on a thread's stack", "[cpu]") {
  CpuTestDevice device;
  auto module = device.compile(R"(
    __device__ __noinline__ int sum(int n) {
      if (n == 0) { __syncthreads(); return 0; }
      volatile int here = n;
      return sum(n - 1) + here; }
    __global__ void recurse(int* x) { x[threadIdx.x] = sum(500); }
    __global__ void arrays(int* x) {
      int local[50000];
      for (int i = 0; i < 50000; ++i) local[(i * 7919) % 50000] = i + threadIdx.x;
      __syncthreads();
      x[threadIdx.x] = local[x[threadIdx.x] % 50000]; })");
  std::vector<int> x(1024, 0);
  device.launch(*device.kernel(module, "recurse"), one_dimension(1, 1024), x.data());
  for (int value : x) REQUIRE(value == 125250);
  x.assign(1024, 7919);
  device.launch(*device.kernel(module, "arrays"), one_dimension(1, 64), x.data());
  for (int i = 0; i < 64; ++i) REQUIRE(x[i] == 1 + i);
}

TEST_CASE("cpu: a grid that is launched cooperatively meets at barriers", "[cpu]") {
  CpuTestDevice device;
  auto module = device.compile(R"(__global__ void k(int* a, int* b, int steps) {
      int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
      if (threadIdx.x == 5) return;
      for (int s = 0; s < steps; ++s) {
        b[i] = a[(i + 64) % n] + 1;
        gpulua_grid_barrier();
        __syncthreads();
        a[i] = b[(i + 64) % n];
        gpulua_grid_barrier();
      } }
    __global__ void some() {
      if (threadIdx.x < 3)
        gpulua_grid_barrier();
      else
        __syncthreads(); }
    __global__ void fails() {
      gpulua_grid_barrier();
      assert(blockIdx.x != 1);
      gpulua_grid_barrier(); })");
  auto k = device.kernel(module, "k");
  LaunchConfig config = one_dimension(static_cast<unsigned>(k->occupancy(64, 0) * device->info().multiprocessors), 64);
  config.cooperative = true;
  check_launch(device->info(), *k, config);
  std::vector<int> a(config.grid.x * 64), b(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<int>(i);
  device.launch(*k, config, a.data(), b.data(), 7);
  for (std::size_t i = 0; i < a.size(); ++i) {
    INFO(i);
    const auto expected = i % 64 == 5 ? i : (i + 64 * 14) % a.size() + 7;
    REQUIRE(a[i] == static_cast<int>(expected));
  }

  config.grid.x = 1;
  CHECK(message_of([&] { device.launch(*device.kernel(module, "some"), config); }) ==
        "[launch] kernel 'some': script.lua:24: __syncthreads() was reached by 61 of 64 threads; script.lua:22: the "
        "grid's barrier was reached by 3 of 64 threads, block (0,0,0)");
  config.grid.x = 3;
  CHECK_THAT(message_of([&] { device.launch(*device.kernel(module, "fails"), config); }),
             Catch::Matchers::ContainsSubstring("script.lua:27: assertion 'blockIdx.x != 1' failed, block (1,0,0)"));
  CHECK(message_of([&] { device.launch(*k, one_dimension(1, 64), a.data(), b.data(), 1); }) ==
        "[launch] kernel 'k': script.lua:15: a barrier of the whole grid needs a cooperative launch: {grid=, block=, "
        "cooperative=true}");
  config.grid.x = static_cast<unsigned>(k->occupancy(64, 0) * device->info().multiprocessors) + 1;
  CHECK_THAT(message_of([&] { check_launch(device->info(), *k, config); }),
             Catch::Matchers::ContainsSubstring("the device holds at most"));
}

TEST_CASE("cpu: blocks that wait for blocks that stand aside come to their ends", "[cpu]") {
  CpuTestDevice device;
  // The first block waits until the last has begun; the others, for the one before them. All but the last fill the
  // room for blocks that stand aside.
  auto module = device.compile(R"(
    __global__ void chain(volatile int* begun, volatile int* done) {
      const int last = gridDim.x - 1;
      if (threadIdx.x == 0) {
        begun[blockIdx.x] = 1;
        while (blockIdx.x == 0 ? begun[last] == 0 : done[blockIdx.x - 1] == 0) {}
        __threadfence();
        done[blockIdx.x] = blockIdx.x == 0 ? 1 : done[blockIdx.x - 1] + 1;
      } })");
  for (const unsigned threads : {1024u, 256u}) {
    const unsigned blocks = 65'536 / threads + 1;
    std::vector<int> begun(blocks), done(blocks);
    device.launch(*device.kernel(module, "chain"), one_dimension(blocks, threads), begun.data(), done.data());
    for (unsigned i = 0; i < blocks; ++i) REQUIRE(done[i] == static_cast<int>(i) + 1);
  }
}

TEST_CASE("cpu: blocks of an ordinary launch that wait for later ones let them run", "[cpu]") {
  CpuTestDevice device;
  auto module = device.compile(R"(__device__ unsigned int arrived = 0;
    __global__ void meet(int* x) {
      x[blockIdx.x * blockDim.x + threadIdx.x] = 1;
      __syncthreads();
      if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&arrived, 1);
        while (*(volatile unsigned int*)&arrived < gridDim.x) {}
      }
      __syncthreads();
      x[blockIdx.x * blockDim.x + threadIdx.x] += x[((blockIdx.x + 5) % gridDim.x) * blockDim.x + threadIdx.x] != 0; }
    __global__ void backwards(int* flags) {
      if (blockIdx.x + 1 < gridDim.x)
        while (((volatile int*)flags)[blockIdx.x + 1] == 0) {}
      assert(blockIdx.x != 3 || flags[0] != -1);
      __threadfence();
      if (flags[blockIdx.x] == 0) flags[blockIdx.x] = 1; }
    __global__ void votes(int* flags) {
      if (blockIdx.x + 1 < gridDim.x)
        while (__any_sync(~0u, ((volatile int*)flags)[blockIdx.x + 1] == 0)) __syncwarp();
      __threadfence();
      if (threadIdx.x == 0) flags[blockIdx.x] = 1; })");
  std::vector<int> x(30 * 64);
  device.launch(*device.kernel(module, "meet"), one_dimension(30, 64), x.data());
  for (int value : x) REQUIRE(value == 2);
  std::vector<int> flags(20);
  auto backwards = device.kernel(module, "backwards");
  device.launch(*backwards, one_dimension(20, 1), flags.data());
  for (int value : flags) REQUIRE(value == 1);
  flags.assign(20, 0);
  device.launch(*device.kernel(module, "votes"), one_dimension(20, 32), flags.data());
  for (int value : flags) REQUIRE(value == 1);
  flags.assign(20, 0);
  flags[0] = -1;
  CHECK_THAT(message_of([&] { device.launch(*backwards, one_dimension(20, 1), flags.data()); }),
             Catch::Matchers::ContainsSubstring("assertion 'blockIdx.x != 3 || flags[0] != -1' failed, block (3,0,0)"));
}
