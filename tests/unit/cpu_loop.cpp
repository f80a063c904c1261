// Recorded work that the CPU device repeats as long as a condition in its memory is true.

#include <chrono>
#include <thread>

#include "src/base/error.h"
#include "tests/catch.h"
#include "tests/unit/cpu_test_device.h"

using namespace gpulua;

namespace {

/// A step that counts up to `most`; to 0: for ever.
class CountingLoop {
 public:
  explicit CountingLoop(CpuTestDevice& device) : device_(device) {
    module_ = device.compile(R"(__global__ void step(int* count, const int* most, bool* go_on) {
        *go_on = ++*count != *most; })");
    step_ = device.kernel(module_, "step");
    device->begin_capture(device.stream());
    device.launch(*step_, one_dimension(1, 1), &count, static_cast<const int*>(&most), &go_on);
    graph_ = device->end_capture(device.stream());
  }
  bool run() { return device_->launch_while(*graph_, &go_on, device_.stream()); }

  int count = 0, most = 0;
  bool go_on = true;

 private:
  CpuTestDevice& device_;
  std::shared_ptr<Module> module_;
  std::shared_ptr<Kernel> step_;
  std::shared_ptr<Graph> graph_;
};

}  // namespace

TEST_CASE("cpu: recorded work is repeated as long as a condition is true", "[cpu]") {
  CpuTestDevice device;
  CountingLoop loop(device);
  CHECK(loop.count == 0);
  loop.most = 7;
  REQUIRE(loop.run());
  CHECK(loop.count == 7);
  REQUIRE(loop.run());  // false from the start
  CHECK(loop.count == 7);
  loop.go_on = true;
  loop.most = 1000;
  REQUIRE(loop.run());
  CHECK(loop.count == 1000);
}

TEST_CASE("cpu: a loop whose condition stays true stops at an interrupt", "[cpu]") {
  CpuTestDevice device;
  CountingLoop loop(device);
  std::thread interrupter([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    device.interrupted() = true;
  });
  const std::string message = message_of([&] { loop.run(); });
  interrupter.join();
  CHECK(message.find("interrupted") != std::string::npos);
  CHECK(loop.count > 1);
}
