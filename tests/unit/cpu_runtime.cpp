// Memory, events, libraries and the kernel cache of the CPU device.

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include "tests/catch.h"
#include "tests/unit/cpu_test_device.h"

using namespace gpulua;

namespace {

class TemporaryFolder {
 public:
  TemporaryFolder() : path_((std::filesystem::temp_directory_path() / "gpulua-test-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no temporary folder");
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

constexpr const char* cached_source = "__global__ void k(int* x) { *x = 42; }";
constexpr const char* warm_folder = "GPULUA_TEST_WARM_FOLDER";

bool is_mapped(const std::string& name) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find(name) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("cpu: memory is aligned, reused, and given back by trim", "[cpu]") {
  CpuTestDevice device;
  void* first = device->allocate(1000000, device.stream());
  CHECK(reinterpret_cast<std::uintptr_t>(first) % 256 == 0);
  CHECK(device->pooled_bytes() == 0);
  device->free(first, device.stream());
  CHECK(device->pooled_bytes() >= 1000000);
  void* second = device->allocate(1000000, device.stream());
  CHECK(second == first);
  device->free(second, device.stream());
  device->trim();
  CHECK(device->pooled_bytes() == 0);
  CHECK(device->allocate(std::size_t{1} << 60, device.stream()) == nullptr);
}

TEST_CASE("cpu: blocks of all sizes are apart, and tell when something wrote beside them", "[cpu]") {
  CpuTestDevice device;
  std::vector<std::pair<unsigned char*, std::size_t>> blocks;
  for (std::size_t bytes = 1; bytes < (std::size_t{24} << 20); bytes += bytes / 3 + 1) {
    void* memory = device->allocate(bytes, device.stream());
    REQUIRE(memory != nullptr);
    CHECK(reinterpret_cast<std::uintptr_t>(memory) % 256 == 0);
    blocks.emplace_back(static_cast<unsigned char*>(memory), bytes);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) std::memset(blocks[i].first, static_cast<int>(i), blocks[i].second);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto [memory, bytes] = blocks[i];
    CHECK(std::all_of(memory, memory + bytes, [i](unsigned char byte) { return byte == i % 256; }));
    CHECK(device->find_overwrite(memory, bytes) == Overwrite::none);
  }
  auto module = device.compile("__global__ void k(char* x, int i) { x[i] = 1; }");
  auto kernel = device.kernel(module, "k");
  for (const auto& [memory, bytes] : blocks) {
    for (std::size_t past : {0, 1, 17, 63}) {
      device.launch(*kernel, one_dimension(1, 1), memory, static_cast<int>(bytes + past));
      CHECK(device->find_overwrite(memory, bytes) == Overwrite::past_end);
      CHECK(device->find_overwrite(memory, bytes) == Overwrite::none);
    }
    for (int before : {-1, -17, -64}) {
      // Guard pages lie before a block that has a mapping of its own.
      if (bytes > 60000) break;
      device.launch(*kernel, one_dimension(1, 1), memory, before);
      CHECK(device->find_overwrite(memory, bytes) == Overwrite::before_start);
      CHECK(device->find_overwrite(memory, bytes) == Overwrite::none);
    }
    device->free(memory, device.stream());
  }
  device->trim();
  CHECK(device->pooled_bytes() == 0);
}

TEST_CASE("cpu: fill, copies, events", "[cpu]") {
  CpuTestDevice device;
  std::uint16_t item = 0x1234, items[5] = {};
  device->fill(items, &item, 2, 4, device.stream());
  CHECK(items[3] == item);
  CHECK(items[4] == 0);
  EventRef from = device->create_event(), to = device->create_event();
  device->record(*from, device.stream());
  usleep(2000);
  device->record(*to, device.stream());
  CHECK(device->elapsed(*from, *to) >= 2.0f);
  CHECK(device->elapsed(*from, *to) < 1000.0f);
}

TEST_CASE("cpu: gemm against a plain loop", "[cpu]") {
  CpuTestDevice device;
  const int m = 17, n = 23, k = 31;
  std::vector<double> a(m * k), b(k * n), c(m * n, 1.0);
  for (int i = 0; i < m * k; ++i) a[i] = i % 7 - 3;
  for (int i = 0; i < k * n; ++i) b[i] = i % 5 - 2;
  GemmProblem problem;
  problem.dtype = DType::float64;
  problem.op_b = MatrixOp::transposed;  // b is n x k
  problem.m = m, problem.n = n, problem.k = k;
  problem.alpha = 2, problem.beta = 3;
  problem.a = a.data(), problem.b = b.data(), problem.c = c.data();
  problem.lda = k, problem.ldb = k, problem.ldc = n;
  device->blas().gemm(problem, device.stream());
  bool right = true;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int l = 0; l < k; ++l) sum += a[i * k + l] * b[j * k + l];
      right = right && c[i * n + j] == 2 * sum + 3;
    }
  CHECK(right);
}

TEST_CASE("cpu: gemm of a batch, by strides and by addresses, of conjugates", "[cpu]") {
  CpuTestDevice device;
  using Number = std::complex<double>;
  const int m = 3, n = 4, k = 5, batch = 40;
  std::vector<Number> a(k * m * batch), b(k * n), c(m * n * batch), again(m * n * batch);
  for (int i = 0; i < k * m * batch; ++i) a[i] = {i % 7 - 3.0, i % 5 - 2.0};
  for (int i = 0; i < k * n; ++i) b[i] = {i % 5 - 2.0, i % 3 - 1.0};
  GemmProblem problem;
  problem.dtype = DType::complex128;
  problem.op_a = MatrixOp::conjugated;  // a is k x m; one b for all
  problem.m = m, problem.n = n, problem.k = k;
  problem.alpha = {0, 1};
  problem.lda = m, problem.ldb = n, problem.ldc = n;
  problem.a = a.data(), problem.b = b.data(), problem.c = c.data();
  problem.batch = batch, problem.stride_a = k * m, problem.stride_c = m * n;
  device->blas().gemm(problem, device.stream());
  std::vector<const void*> of_a, of_b;
  std::vector<void*> of_c;
  for (int i = 0; i < batch; ++i) {
    of_a.push_back(a.data() + i * k * m);
    of_b.push_back(b.data());
    of_c.push_back(again.data() + i * m * n);
  }
  problem.a_addresses = of_a.data(), problem.b_addresses = of_b.data(), problem.c_addresses = of_c.data();
  device->blas().gemm(problem, device.stream());
  bool right = again == c;
  for (int at = 0; at < batch; ++at)
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        Number sum = 0;
        for (int l = 0; l < k; ++l) sum += std::conj(a[at * k * m + l * m + i]) * b[l * n + j];
        right = right && c[at * m * n + i * n + j] == Number(0, 1) * sum;
      }
  CHECK(right);
}

TEST_CASE("cpu: a module outlives its handle while a kernel is held", "[cpu]") {
  CpuTestDevice device;
  std::vector<std::shared_ptr<Kernel>> kernels;
  for (int i = 0; i < 5; ++i) {
    auto module = device.compile("__global__ void k(int* x) { *x = " + std::to_string(i) + "; }");
    kernels.push_back(device.kernel(module, "k"));
  }
  for (int i = 0; i < 5; ++i) {
    int x = -1;
    device.launch(*kernels[i], one_dimension(1, 1), &x);
    CHECK(x == i);
  }
}

// Run by the test below in a process of its own; alone it does nothing.
TEST_CASE("cpu: second process of the warm start", "[cpu]") {
  const char* folder = std::getenv(warm_folder);
  if (folder == nullptr) return;
  CpuTestDevice device{folder};
  int x = 0;
  device.run(cached_source, one_dimension(1, 1), &x);
  CHECK(x == 42);
  for (const char* library : {"libLLVM", "libclang-cpp", "libgpulua-cpu-compiler"}) CHECK_FALSE(is_mapped(library));
  CHECK(is_mapped("libgpulua-cpu.so"));
}

TEST_CASE("cpu: a warm start loads no compiler", "[cpu]") {
  TemporaryFolder folder;
  {
    CpuTestDevice device{folder.path()};
    int x = 0;
    device.run(cached_source, one_dimension(1, 1), &x);
    CHECK(is_mapped("libgpulua-cpu-compiler"));
  }
  pid_t child = fork();
  if (child == 0) {
    setenv(warm_folder, folder.path().c_str(), 1);
    execl("/proc/self/exe", "unit", "cpu: second process of the warm start", static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
