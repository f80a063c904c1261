// The CPU device makes a kernel's code for blocks of other shapes than the usual ones when a launch first has such a
// block.

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/unit/cpu_test_device.h"
#include "tests/unit/temporary_directory.h"

using namespace gpulua;

namespace {

LaunchConfig blocks_of(unsigned x, unsigned y) {
  LaunchConfig config;
  config.grid.x = 2;
  config.block.x = x;
  config.block.y = y;
  return config;
}

/// Each compilation adds one.
std::ptrdiff_t count_files(const std::filesystem::path& directory) {
  std::ptrdiff_t count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory))
    if (entry.is_regular_file()) ++count;
  return count;
}

/// Turns the numbers of a block's threads around.
std::string turn(const std::string& before = {}, const std::string& factor = "3") {
  return before + R"(
    __global__ void turn(int* out) {
      __shared__ int s[1024];
      const int t = threadIdx.y * blockDim.x + threadIdx.x, n = blockDim.x * blockDim.y;
      s[t] = t * )" +
         factor + R"(;
      __syncthreads();
      out[blockIdx.x * n + t] = s[n - 1 - t] + blockIdx.x;
    })";
}

void check_turn(CpuTestDevice& device, Kernel& kernel, unsigned x, unsigned y) {
  const int n = static_cast<int>(x * y);
  std::vector<int> out(2 * x * y);
  device.launch(kernel, blocks_of(x, y), out.data());
  for (int i = 0; i < 2 * n; ++i) {
    INFO(x << " x " << y << ", element " << i);
    REQUIRE(out[static_cast<std::size_t>(i)] == (n - 1 - i % n) * 3 + i / n);
  }
}

}  // namespace

TEST_CASE("cpu: code for other blocks is made when a launch needs it, once", "[cpu]") {
  const TemporaryDirectory cache;
  const std::vector<std::pair<unsigned, unsigned>> shapes{{64, 1}, {32, 4}, {16, 16}, {16, 2}, {33, 1},
                                                          {7, 9},  {64, 1}, {16, 16}, {1, 1},  {31, 33}};
  // Whole warps, rows of 16, and all others.
  const std::vector<std::ptrdiff_t> compilations{0, 0, 1, 1, 2, 2, 2, 2, 2, 2};
  for (int round = 0; round < 2; ++round) {
    CpuTestDevice device(cache.path());
    const auto module = device.compile(turn());
    const auto kernel = device.kernel(module, "turn");
    const std::ptrdiff_t before = count_files(cache.path());
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      check_turn(device, *kernel, shapes[i].first, shapes[i].second);
      CHECK(count_files(cache.path()) - before == (round == 0 ? compilations[i] : 0));
    }
    // A new handle of the kernel finds what the module has.
    check_turn(device, *device.kernel(module, "turn"), 33, 1);
  }
}

TEST_CASE("cpu: kernels of a module with variables see the same ones, whatever their blocks are", "[cpu]") {
  const TemporaryDirectory cache;
  CpuTestDevice device(cache.path());
  const auto module = device.compile(R"(
    __device__ int sum = 5;
    __global__ void add(int* out) {
      __shared__ int s;
      if (threadIdx.x == 0) s = 0;
      __syncthreads();
      atomicAdd(&s, 1);
      __syncthreads();
      if (threadIdx.x == 0) *out = sum += s;
    })");
  const auto kernel = device.kernel(module, "add");
  const std::ptrdiff_t before = count_files(cache.path());
  int out = 0, expected = 5;
  for (const unsigned threads : {32u, 33u, 64u, 5u, 1u}) {
    device.launch(*kernel, one_dimension(1, threads), &out);
    CHECK(out == (expected += static_cast<int>(threads)));
  }
  CHECK(count_files(cache.path()) == before);
}

TEST_CASE("cpu: code for other blocks is made of the files that the first compilation read", "[cpu]") {
  const TemporaryDirectory folder;
  std::ofstream(folder.path() / "outer.h") << "#include \"inner.h\"\n";
  std::ofstream(folder.path() / "inner.h") << "#define FACTOR 3\n";
  CpuTestDevice device;
  const auto module = device.compile(turn("#include \"outer.h\"\n", "FACTOR"), {}, {"-I" + folder.path().string()});
  const auto kernel = device.kernel(module, "turn");
  check_turn(device, *kernel, 64, 1);
  std::ofstream(folder.path() / "inner.h") << "#define FACTOR 4\n";
  std::filesystem::remove(folder.path() / "outer.h");
  check_turn(device, *kernel, 33, 1);
  check_turn(device, *kernel, 16, 16);
}
