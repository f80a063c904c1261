// The CPU device makes a kernel's code for blocks of other shapes than the usual ones when a launch first has such a
// block, and that of kernels of large sources when they are fetched.

#include <fstream>

#include "tests/catch.h"
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
  // Whole warps, a line and blocks of any shape.
  CHECK(count_files(cache.path()) == before + 1);
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

namespace {

/// Three kernels of some 200 instructions each, and what `more` has.
std::string large_source(const std::string& more) {
  return R"(
    #define TWICE(x) x x
    #define MANY(x) TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(x))))))
    )" + more +
         R"(
    __global__ void first(int* out) { int i = *out; MANY(i = i * 5 + (i >> 3); ) *out = i; }
    __global__ void second(int* out) { int i = *out; MANY(i = i * 7 + (i >> 2); ) *out = i; }
    __global__ void third(int* out) { int i = *out; MANY(i = i * 9 + (i >> 1); ) *out = i; })";
}

int run(CpuTestDevice& device, const std::shared_ptr<Module>& module, const std::string& name, int value) {
  device.launch(*device.kernel(module, name), one_dimension(1, 1), &value);
  return value;
}

}  // namespace

TEST_CASE("cpu: kernels of a large source are compiled when they are fetched, once", "[cpu]") {
  const TemporaryDirectory cache;
  const auto after = [](int value, int factor, int shift) {
    for (int i = 0; i < 64; ++i) value = static_cast<int>(static_cast<unsigned>(value) * factor + (value >> shift));
    return value;
  };
  for (int round = 0; round < 2; ++round) {
    CpuTestDevice device(cache.path());
    const auto module =
        device.compile(large_source("__device__ int deep(int n) { return n <= 0 ? 1 : n * deep(n - 1) + deep(n - 2); }"
                                    "__global__ void recursive(int* out) { *out = deep(*out); }"));
    const std::ptrdiff_t before = count_files(cache.path());
    const auto compilations = [&] { return count_files(cache.path()) - before; };
    CHECK(run(device, module, "second", 3) == after(3, 7, 2));
    CHECK(compilations() == (round == 0 ? 1 : 0));
    CHECK(run(device, module, "second", 4) == after(4, 7, 2));
    CHECK(run(device, module, "third", 5) == after(5, 9, 1));
    CHECK(compilations() == (round == 0 ? 2 : 0));
    CHECK(device.kernel(module, "first")->entry().engine == "simd");
    CHECK(device.kernel(module, "recursive")->entry().engine == "scalar: recursion");
    CHECK(device.kernel(module, "recursive")->entry().engine == "scalar: recursion");  // as a new handle
    CHECK(to_string("recursive", device.kernel(module, "recursive")->entry().signature) == "recursive(int*)");
    CHECK(compilations() == (round == 0 ? 4 : 0));
  }
}

TEST_CASE("cpu: kernels that are compiled one by one see the same variables", "[cpu]") {
  CpuTestDevice device;
  const auto module = device.compile(large_source(R"(
    __device__ int count = 5, other = 6;
    static __device__ int hidden;
    __constant__ int factor = 2;
    __constant__ int offset = 100;
    __device__ int* const both[] = {&count, &other};
    __device__ int next() { static int calls = 10; return ++calls; }
    __global__ void add(int* out) { count += *out; hidden += 1; *both[1] += 1; *out = next(); }
    __global__ void look(int* out) { *out = (*both[0] * factor + offset) * 1000 + hidden * 100 + other * 10 + next(); })"));
  CHECK(run(device, module, "add", 7) == 11);
  CHECK(run(device, module, "look", 0) == (12 * 2 + 100) * 1000 + 100 + 70 + 12);
  *static_cast<int*>(module->address(find_global(module->compiled(), "factor"))) = 3;
  *static_cast<int*>(module->address(find_global(module->compiled(), "offset"))) = 200;
  CHECK(run(device, module, "add", 1) == 13);
  CHECK(run(device, module, "look", 0) == (13 * 3 + 200) * 1000 + 200 + 80 + 14);
}

TEST_CASE("cpu: variables that point to functions of a large source keep what they are set to", "[cpu]") {
  CpuTestDevice device;
  const auto module = device.compile(large_source(R"(
    __device__ int twice(int x) { return 2 * x; }
    __device__ int square(int x) { return x * x; }
    __device__ int (*function)(int) = twice;
    __global__ void set(int* out) { function = square; }
    __global__ void call(int* out) { *out = function(*out) + (function == square ? 1000 : 0); })"));
  CHECK(run(device, module, "call", 7) == 14);
  run(device, module, "set", 0);
  CHECK(run(device, module, "call", 7) == 1049);
}
