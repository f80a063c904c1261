#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/catch.h"
#include "tests/embed/embedded_state.h"

using namespace gpulua;

namespace {

// Sums of a range by a kernel, and of what the library's own kernels wrote: touches compiling, launching and copying.
constexpr const char* work = R"lua(
  local n = 1000
  local k = gpu.kernel([[
    __global__ void scale(const float* x, float* y, float a, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) y[i] = a * x[i];
    }]], "scale")
  local x, y = gpu.arange(n, "float32"), gpu.zeros(n)
  local total = 0
  for round = 1, 20 do
    k:over(n)(x, y, factor, n)
    local t = y:table()
    for i = 1, n do total = total + t[i] end
  end
  return total / factor
)lua";

}  // namespace

TEST_CASE("a state that uses no device opens none") {
  State state;
  CHECK(state.context().open_devices().empty());
}

TEST_CASE("two states in one thread share nothing") {
  State a, b;
  a.run("factor = 2");
  b.run("factor = 3");
  for (int round = 0; round < 3; ++round) {
    CHECK(a.run(work) == "9990000");
    CHECK(b.run(work) == "9990000");
  }
  a.run("gpu.set_memory_limit(2^20)");
  CHECK(b.run("return gpu.memory().limit > 2^20") == "boolean");
  CHECK(a.run("return tostring(gpu.memory().limit)") == "1048576");
  CHECK(b.run("return tostring(gpu.memory().limit)") != "1048576");
  CHECK(a.run("gpu.zeros(2^20)").find("error: ") == 0);
  CHECK(b.run("return #gpu.zeros(2^20)") == "1048576");
}

TEST_CASE("a state may end while another goes on") {
  State a;
  a.run("factor = 2; x = gpu.ones(10)");
  {
    State b;
    b.run("factor = 5; y = gpu.ones(10)");
    CHECK(b.run(work) == "9990000");
  }
  CHECK(a.run(work) == "9990000");
  CHECK(a.run("return x[1]") == "1");
}

TEST_CASE("states in several threads run at once") {
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([i, &right] {
      State state;
      state.run("factor = " + std::to_string(1 << i));
      if (state.run(work) == "9990000") ++right;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(right == 4);
}

TEST_CASE("an interrupt of one context leaves the other alone") {
  State a, b;
  a.run("factor = 2");
  b.run("factor = 2");
  a.context().interrupt();
  CHECK(b.run(work) == "9990000");
  a.context().interrupted() = false;
  CHECK(a.run(work) == "9990000");
}
